import { open } from 'node:fs/promises';
import { FetchFailed } from '../../network/fetch-media.js';

/** Texts, and what cameras write. */
const STRIPPED = ['tEXt', 'zTXt', 'iTXt', 'eXIf'];
/** Private chunks that everybody reads: those of animations. */
const KEPT = ['acTL', 'fcTL', 'fdAT'];
const SIGNATURE_BYTES = 8;
/** Length, name and checksum. */
const FRAME_BYTES = 12;
const COPIED_BYTES = 256 * 1024;

// Decided: ComfyUI writes the whole graph with all prompts into the PNGs that it saves. The graph is the operator's, so
// results have no texts and no private chunks.
/**
 * Copies a PNG without its texts and private chunks.
 * @returns the path of the copy
 * @throws FetchFailed if it is cut
 */
export async function stripPng(path: string): Promise<string> {
  const stripped = `${path}.png`;
  const source = await open(path);
  const target = await open(stripped, 'wx', 0o600);
  const head = Buffer.alloc(8);
  const copy = async (from: number, length: number) => {
    for (let at = 0; at < length; at += COPIED_BYTES) {
      const size = Math.min(COPIED_BYTES, length - at);
      const { bytesRead, buffer } = await source.read(Buffer.alloc(size), 0, size, from + at);
      if (bytesRead < size) throw new FetchFailed('it is cut');
      await target.appendFile(buffer);
    }
  };
  try {
    await copy(0, SIGNATURE_BYTES);
    for (let at = SIGNATURE_BYTES, name = ''; name !== 'IEND'; ) {
      const { bytesRead } = await source.read(head, 0, head.length, at);
      if (bytesRead < head.length) throw new FetchFailed('it is cut');
      name = head.toString('latin1', 4);
      const bytes = head.readUInt32BE(0) + FRAME_BYTES;
      // A lower-case second letter means private.
      const isPrivate = /^.[a-z]/.test(name) && !KEPT.includes(name);
      if (!STRIPPED.includes(name) && !isPrivate) await copy(at, bytes);
      at += bytes;
    }
    return stripped;
  } finally {
    await source.close();
    await target.close();
  }
}
