import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ignore, { type Ignore } from 'ignore';

/** Made by tools, and never meant to be published. */
const NEVER_PACKED = new Set(['.git', 'node_modules', '__pycache__', '.venv', 'venv']);

/** Rules of one .gitignore and the folder they count from: `''` or `web/`. */
interface Rules {
  readonly base: string;
  readonly rules: Ignore;
}

/**
 * Yields every file below a folder, relative to it and with `/`, in no order. Links are yielded, not followed.
 * `.gitignore` files are honoured, nested ones too; with `everything` only `.git` is left out.
 */
export async function* walkFiles(root: string, { everything = false } = {}): AsyncGenerator<string> {
  const pending: { base: string; above: readonly Rules[] }[] = [{ base: '', above: [] }];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const { base } = next;
    const inForce = everything ? [] : await withGitignore(root, base, next.above);
    for (const entry of await readdir(join(root, base), { withFileTypes: true })) {
      const path = base + entry.name;
      const isFolder = entry.isDirectory();
      if (everything ? entry.name === '.git' : NEVER_PACKED.has(entry.name)) continue;
      if (isIgnored(isFolder ? `${path}/` : path, inForce)) continue;
      if (isFolder) pending.push({ base: `${path}/`, above: inForce });
      else yield path;
    }
  }
}

async function withGitignore(root: string, base: string, above: readonly Rules[]): Promise<readonly Rules[]> {
  const text = await readFile(join(root, base, '.gitignore'), 'utf8').catch(() => undefined);
  if (text === undefined) return above;
  return [{ base, rules: ignore({ ignorecase: false }).add(text) }, ...above];
}

/** The innermost .gitignore that matches a path decides. Folders above the path are known not to be ignored. */
function isIgnored(path: string, inForce: readonly Rules[]): boolean {
  for (const { base, rules } of inForce) {
    const inner = path.slice(base.length);
    if (!ignore.isPathValid(inner)) return false;
    const { ignored, unignored } = rules.test(inner);
    if (ignored || unignored) return ignored;
  }
  return false;
}
