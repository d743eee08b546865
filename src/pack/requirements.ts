import { dirname, join } from 'node:path/posix';
import type { ReadText } from './pack-text.js';

export interface Requirements {
  readonly dependencies: string[];
  /** Sentences without a subject, each about one file or line. */
  readonly problems: string[];
  /** Lines that only pip understands and that are left out. */
  readonly skipped: string[];
}

const MAX_DEPTH = 8;

/**
 * The dependencies that requirements files list, in their order, each once. `-r other.txt` is followed; options such as
 * `--index-url` describe an installation, not the pack, and are left out.
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
      problems.push(`leads to requirements files more than ${MAX_DEPTH} deep`);
      return;
    }
    const found = await read(path);
    if ('problem' in found) {
      problems.push(found.problem);
      return;
    }
    for (const line of listRequirementLines(found.text)) {
      const nested = /^(?:-r|--requirement)[\s=]*(.+)$/.exec(line)?.[1];
      if (nested) await follow(join(dirname(path), nested.trim()), depth + 1);
      else if (line.startsWith('-')) skipped.push(line);
      else dependencies.add(removeOptions(line));
    }
  };

  for (const path of paths) await follow(path, 1);
  return { dependencies: [...dependencies], problems, skipped };
}

/** `torch --hash=…` without its options; a pattern would look for the end of long white space again and again. */
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
      // As for pip, `#` begins a comment only after white space: URLs end in `#egg=name`.
      .map((line) => line.replace(/(?:^|\s)#.*$/, '').trim())
      .filter((line) => line !== '')
  );
}
