import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { cachedDataVersionTag } from 'node:v8';
import { Script } from 'node:vm';
import { writePrivateFile } from './private-file.js';

const DIGEST_BYTES = 32;
const digestCode = (source: Buffer, code: Buffer) =>
  createHash('sha256').update(source).update(code).digest();

/**
 * Loads a CommonJS module, for what requires it later, with the code that the engine compiled when it was loaded before.
 * That takes half of the time of compiling it again. Node.js 20 cannot do so itself. The module must not contain `import()`:
 * Node.js 20 refuses it in kept code.
 * Each file is evaluated once: one that is loaded already stays.
 * @param folder where the code is kept, for each version of the engine; created when it is written
 * @returns what writes the code that is compiled so far, unless it was kept before; it blocks for milliseconds
 */
export function loadWithCode(file: string, folder: string): () => void {
  const require = createRequire(file);
  if (require.cache[file]) return () => {};
  const source = readFileSync(file);
  const keptAt = join(folder, `${basename(file)}-${cachedDataVersionTag().toString(16)}`);
  const script = new Script(
    // The build leaves no character beyond ASCII in it.
    `(function (exports, require, module, __filename, __dirname) { ${source.toString('latin1')}\n})`,
    { filename: file, cachedData: readCode(keptAt, source) },
  );
  const module = { id: file, filename: file, loaded: true, exports: {} } as NodeJS.Module;
  require.cache[file] = module;
  script.runInThisContext()(module.exports, require, module, file, dirname(file));
  let isKept = script.cachedDataRejected === false;
  return () => {
    if (isKept) return;
    isKept = true;
    const code = script.createCachedData();
    writePrivateFile(keptAt, Buffer.concat([digestCode(source, code), code]));
  };
}

/** @returns undefined if there is none, or it is damaged, for another source, or not this user's */
function readCode(path: string, source: Buffer): Buffer | undefined {
  try {
    const { uid, mode } = statSync(path);
    if (process.geteuid && (uid !== process.geteuid() || (mode & 0o022) !== 0)) return undefined;
    const kept = readFileSync(path);
    const code = kept.subarray(DIGEST_BYTES);
    return digestCode(source, code).equals(kept.subarray(0, DIGEST_BYTES)) ? code : undefined;
  } catch {
    return undefined;
  }
}
