import type { FileReader } from './read-archive.js';

/** What is kept of a README, in bytes of UTF-8. */
export const MAX_README_BYTES = 32 * 1024;

/** A larger file is not read. */
const MAX_FILE_BYTES = 1024 ** 2;

const NAMES = ['readme.md', 'readme.markdown', 'readme.txt', 'readme'];

/** Finds the README of an archive beside what another reader wants. */
export class ReadmeReader implements FileReader {
  readonly #other: FileReader | undefined;
  #rank = NAMES.length;
  /** Its text, as far as it is kept; undefined if there is none. */
  text: string | undefined;

  constructor(other?: FileReader) {
    this.#other = other;
  }

  wanted(path: string, size: number): boolean {
    return this.#isReadme(path, size) || this.#other?.wanted(path, size) === true;
  }

  async read(path: string, content: Buffer): Promise<void> {
    if (this.#isReadme(path, content.length)) {
      this.#rank = NAMES.indexOf(path.toLowerCase());
      this.text = cutText(content);
    }
    if (this.#other?.wanted(path, content.length)) await this.#other.read(path, content);
  }

  #isReadme(path: string, size: number): boolean {
    const rank = NAMES.indexOf(path.toLowerCase());
    return rank >= 0 && rank < this.#rank && size <= MAX_FILE_BYTES;
  }
}

/** Without a character that was cut, and without NUL, which databases do not store. */
function cutText(content: Buffer): string {
  const text = new TextDecoder().decode(content.subarray(0, MAX_README_BYTES), {
    stream: content.length > MAX_README_BYTES,
  });
  return text.replaceAll('\0', '\ufffd').trim();
}
