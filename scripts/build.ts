import { spawn } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { bundle } from './bundle.js';

await rm('dist', { recursive: true, force: true });
await Promise.all([bundle(), types()]);

/** Writes the types of what others import. */
function types(): Promise<void> {
  return new Promise((done, fail) => {
    const flags = ['--project', 'tsconfig.build.json'];
    const child = spawn(process.execPath, ['node_modules/typescript/bin/tsc', ...flags], {
      stdio: 'inherit',
    });
    child.once('error', fail);
    child.once('exit', (code) => (code === 0 ? done() : fail(new Error(`tsc ended with ${code}.`))));
  });
}
