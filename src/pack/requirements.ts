import { dirname, join } from 'node:path/posix';
import type { ReadText } from './pack-text.js';

export interface Requirements {
  readonly dependencies: string[];
  /** Sentences without a subject, each about one file or line. */
  readonly problems: string[];
  /** Lines that only pip understands, which are left out. */
  readonly skipped: string[];
}

const MAX_DEPTH = 8;

/**
 * Reads the dependencies from requirements files, in order and without duplicates. `-r other.txt` is followed. Options such
 * as `--index-url` apply to the installation, not to the pack, and are left out.
 */
export async function readRequirements(paths: readonly string[], read: ReadText): Promise<Requirements> {
  const dependencies = new Set<string>();
  const problems: string[] = [];
  const skipped: string[] = [];
  const seen = new Set<string>();

  const follow = async (path: string, depth: number): Promise<void> => {
    if (seen.has(path)) return;
    seen.add(path);
    if (depth > MAX_DEPTH) {
      problems.push(`refers to requirements files nested more than ${MAX_DEPTH} deep`);
      return;
    }
    const found = await read(path);
    if ('problem' in found) {
      problems.push(found.problem);
      return;
    }
    for (const line of listRequirementLines(found.text)) {
      const nested = /^(?:-r|--requirement)[\s=]*([^\s=].*)/s.exec(line)?.[1];
      if (nested) await follow(join(dirname(path), nested.trim()), depth + 1);
      else if (line.startsWith('-')) skipped.push(line);
      else dependencies.add(removeOptions(line));
    }
  };

  for (const path of paths) await follow(path, 1);
  return { dependencies: [...dependencies], problems, skipped };
}

/** Removes the options of `torch --hash=…`. A regular expression would be slow for long whitespace. */
function removeOptions(line: string): string {
  for (let at = line.indexOf('--'); at !== -1; at = line.indexOf('--', at + 1))
    if (/\s/.test(line.charAt(at - 1))) return line.slice(0, at).trimEnd();
  return line;
}

function listRequirementLines(text: string): string[] {
  return (
    text
      .replace(/^\uFEFF/, '')
      .replace(/\\\r?\n/g, ' ')
      .split(/\r?\n/)
      // As in pip, `#` begins a comment only after whitespace, because URLs may end in `#egg=name`.
      .map((line) => line.replace(/(?:^|\s)#.*/s, '').trim())
      .filter((line) => line !== '')
  );
}
