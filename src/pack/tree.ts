import { createHash } from 'node:crypto';

/** The git modes of a regular and of an executable file; a pack has no others. */
export type FileMode = '100644' | '100755';

export interface TreeEntry {
  /** Relative, with `/`, in NFC. */
  readonly path: string;
  readonly mode: FileMode;
  /** SHA-256 of the content, 64 lowercase hex digits. */
  readonly sha256: string;
}

/** Converts permission bits to a mode: executable for its owner, or not. */
export function toFileMode(permissions: number): FileMode {
  return permissions & 0o100 ? '100755' : '100644';
}

/**
 * Computes a digest that is equal for equal trees: 64 lowercase hex digits. It does not depend on order, dates, folders or
 * compression.
 *
 * It is the SHA-256 of one line per file, sorted by the bytes of the UTF-8 path, each ending in a newline:
 * `__init__.py NUL 100644 NUL 9f86d0… LF`.
 */
export function computeTreeDigest(entries: Iterable<TreeEntry>): string {
  // Decided: two trees are equal if the SHA-256 of their sorted lines `path NUL mode NUL sha256(content)` is equal.
  const hash = createHash('sha256');
  for (const { path, mode, sha256 } of sortByPath(entries)) hash.update(`${path}\0${mode}\0${sha256}\n`);
  return hash.digest('hex');
}

/** Sorts by the bytes of the UTF-8 path. JavaScript compares UTF-16 units, which differs above U+FFFF. */
export function sortByPath<Item extends { readonly path: string }>(items: Iterable<Item>): Item[] {
  return Array.from(items, (item) => ({ item, bytes: Buffer.from(item.path) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ item }) => item);
}
