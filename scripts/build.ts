import { spawn } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build } from 'esbuild';
import { grammarFiles } from '../src/pack/definitions/grammar.js';

/**
 * Bundles src into dist, split so that a command loads only what it runs, and writes the types beside it. What is
 * native, or is loaded by the service alone, stays a package of its own.
 */
await rm('dist', { recursive: true, force: true });
await Promise.all([bundle(), types()]);
const { resolve } = createRequire(import.meta.url);
for (const [name, module] of Object.entries(grammarFiles)) await copyFile(resolve(module), `dist/${name}`);

async function bundle(): Promise<void> {
  await build({
    entryPoints: { cli: 'src/cli/index.ts', client: 'src/client/index.ts', service: 'src/service/index.ts' },
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    packages: 'external',
    logLevel: 'warning',
  });
}

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
