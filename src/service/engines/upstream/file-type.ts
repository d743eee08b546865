import { open } from 'node:fs/promises';

/** The first bytes of the types that may be served: none that a browser would execute. */
const SIGNATURES: readonly (readonly [type: string, form: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8[79]a/],
  ['image/webp', /^RIFF.{4}WEBP/s],
  ['image/avif', /^.{4}ftyp(?:avif|avis)/s],
  ['image/tiff', /^(?:II\*|MM.\*)/s],
  // HEIC and audio use the container of MP4.
  ['video/mp4', /^.{4}ftyp(?!hei[cx]|mif1|msf1|M4[AB] )/s],
  ['video/webm', /^.E\xdf\xa3/s],
];

/** Detects the type of a file by its first bytes. @returns undefined if it is unknown */
export async function detectFileType(path: string): Promise<string | undefined> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, 0);
    const head = buffer.toString('latin1', 0, bytesRead);
    return SIGNATURES.find(([, form]) => form.test(head))?.[0];
  } finally {
    await file.close();
  }
}
