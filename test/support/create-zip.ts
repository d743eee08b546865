import { buffer } from 'node:stream/consumers';
import yazl from 'yazl';

/** A zip of these files, by path. */
export function createZip(files: Record<string, string | Buffer>): Promise<Buffer> {
  const zip = new yazl.ZipFile();
  for (const [path, content] of Object.entries(files)) zip.addBuffer(Buffer.from(content), path);
  zip.end();
  return buffer(zip.outputStream);
}
