import { copyFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build } from 'esbuild';
import { grammarFiles } from '../src/pack/definitions/grammar.js';

/** Dependencies that commands load at once: one file of a bundle is found quicker than many of a folder. */
const inlined = ['commander', 'chalk', 'zod', 'conf', 'ora', '@inquirer/prompts'];

/** Bundles src into dist, split so that a command loads only what it runs. */
export async function bundle(): Promise<void> {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  await build({
    entryPoints: {
      cli: 'src/cli/index.ts',
      client: 'src/client/index.ts',
      service: 'src/service/index.ts',
      'pack-worker': 'src/pack/worker.ts',
      'image-worker': 'src/service/generation/engines/local-image/worker.ts',
      'video-worker': 'src/service/generation/engines/local-video/worker.ts',
    },
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: Object.keys({ ...dependencies, ...optionalDependencies }).filter(
      (name) => !inlined.includes(name),
    ),
    // Bundled CommonJS asks for node's own modules with require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const { resolve } = createRequire(import.meta.url);
  for (const [name, module] of Object.entries(grammarFiles)) await copyFile(resolve(module), `dist/${name}`);
}
