import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

/** Loads something without free file handles, and again with them, in a process with few. */
function loadTwice(path: string, name: string): string[] {
  const code = `
    import { closeSync, openSync } from 'node:fs';
    const load = (await import(${JSON.stringify(resolve(path))})).${name};
    const tryLoad = () => Promise.resolve().then(load).then(() => 'loaded', (error) => error.code ?? error.message);
    const taken = [];
    try { for (;;) taken.push(openSync('/dev/null')); } catch {}
    const outcomes = [await tryLoad()];
    taken.forEach(closeSync);
    outcomes.push(await tryLoad());
    console.log(JSON.stringify(outcomes));`;
  const program = [process.execPath, '--import=tsx', '--input-type=module', '--eval', code];
  return JSON.parse(
    execFileSync('sh', ['-c', 'ulimit -n 256; exec "$0" "$@"', ...program], { encoding: 'utf8' }),
  );
}

test.skipIf(process.platform === 'win32').each([
  ['the image library', 'src/preview/sharp.ts', 'loadSharp'],
  ['the video packages', 'src/preview/video/codecs.ts', 'loadCodecs'],
])('%s can be loaded once there are file handles again', (_, path, name) => {
  expect(loadTwice(path, name)).toEqual(['EMFILE', 'loaded']);
});
