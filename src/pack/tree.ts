import { createHash } from 'node:crypto';

/** Git's spelling of an ordinary file and of an executable one; a pack knows no others. */
export type FileMode = '100644' | '100755';

export interface TreeEntry {
  /** Relative, with `/`, in NFC. */
  readonly path: string;
  readonly mode: FileMode;
  /** SHA-256 of the content, 64 lowercase hex digits. */
  readonly sha256: string;
}

/** The mode of a file whose permission bits are given: executable for its owner, or not. */
export function toFileMode(permissions: number): FileMode {
  return permissions & 0o100 ? '100755' : '100644';
}

/**
 * The digest that is equal for equal trees: 64 lowercase hex digits. Order does not matter, and neither
 * do dates, folders or how an archive was compressed.
 *
 * It is the SHA-256 of one line a file, sorted by the bytes of the UTF-8 path, each ended by a newline:
 * `__init__.py NUL 100644 NUL 9f86d0… LF`.
 */
export function computeTreeDigest(entries: Iterable<TreeEntry>): string {
  // Decided: same bytes means the same SHA-256 over the sorted lines `path NUL mode NUL sha256(content)`.
  const hash = createHash('sha256');
  for (const { path, mode, sha256 } of sortByPath(entries)) hash.update(`${path}\0${mode}\0${sha256}\n`);
  return hash.digest('hex');
}

/** Sorts by the bytes of the UTF-8 path. JavaScript's own order compares UTF-16 units and differs beyond U+FFFF. */
export function sortByPath<Item extends { readonly path: string }>(items: Iterable<Item>): Item[] {
  return Array.from(items, (item) => ({ item, bytes: Buffer.from(item.path) }))
    .sort((a, b) => Buffer.compare(a.bytes, b.bytes))
    .map(({ item }) => item);
}
