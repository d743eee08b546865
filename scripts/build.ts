import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { bundle } from './bundle.js';
import { bundleTypes, removeUnreached } from './bundle-types.js';
import { formatLicenses } from './licenses.js';

await rm('dist', { recursive: true, force: true });
const [modules] = await Promise.all([bundle(), writeTypes()]);
writeFileSync('dist/THIRD-PARTY-LICENSES', formatLicenses(modules));

/** Writes the types of the package's entries. */
async function writeTypes(): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const argv = ['node_modules/typescript/bin/tsc', '--project', 'tsconfig.build.json'];
    const child = spawn(process.execPath, argv, { stdio: 'inherit' });
    child.once('error', reject);
    child.once('exit', (code) => (code === 0 ? resolve() : reject(new Error(`tsc ended with ${code}.`))));
  });
  // zod is bundled, so that a command loads one file instead of a hundred; its types have to be there as
  // well.
  bundleTypes('zod', 'dist/types');
  removeUnreached('dist/types', ['library/index.d.ts', 'service/index.d.ts']);
}
