import { createRequire, syncBuiltinESMExports } from 'node:module';
import { onTestFinished } from 'vitest';

const fs = createRequire(import.meta.url)('node:fs');

/** Calls `hear` just before each write of this process below these folders. @returns a function that ends this */
export function interceptWrites(folders: readonly string[], hear: () => void): () => void {
  const undo: (() => void)[] = [];
  const watch = (object: Record<string, unknown>, name: string, isWrite = (_: unknown[]) => true) => {
    const real = object[name] as (...args: unknown[]) => unknown;
    object[name] = function (this: unknown, ...args: unknown[]) {
      const isOurs = folders.some((folder) => args.slice(0, 2).some((arg) => String(arg).startsWith(folder)));
      if (isOurs && isWrite(args)) hear();
      return real.apply(this, args);
    };
    undo.push(() => {
      object[name] = real;
    });
  };
  const opensToWrite = ([, flags]: unknown[]) => typeof flags === 'string' && /[wa]/.test(flags);
  for (const name of [
    'renameSync',
    'linkSync',
    'writeFileSync',
    'writeFile',
    'appendFile',
    'createWriteStream',
  ])
    watch(fs, name);
  watch(fs, 'openSync', opensToWrite);
  for (const name of ['rename', 'link']) watch(fs.promises, name);
  syncBuiltinESMExports();
  const end = () => {
    for (const one of undo.splice(0)) one();
    syncBuiltinESMExports();
  };
  onTestFinished(end);
  return end;
}
