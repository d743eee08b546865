import { copyFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { build, type Metafile } from 'esbuild';
import { GRAMMAR_FILES } from '../src/python/definitions/grammar.js';

/**
 * Bundles src into dist, split so that a command loads only what it runs. What package.json does not list as
 * a dependency becomes part of the bundle: one file of a bundle is found quicker than many of a folder.
 */
export async function bundle(): Promise<Metafile> {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  const installed = Object.keys({ ...dependencies, ...optionalDependencies });
  const { metafile } = await build({
    entryPoints: {
      cli: 'src/cli/index.ts',
      client: 'src/client/index.ts',
      service: 'src/service/index.ts',
      'pack-reader': 'src/python/reader.ts',
      'image-worker': 'src/preview/image/worker.ts',
      'video-worker': 'src/preview/video/worker.ts',
    },
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    metafile: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: installed,
    // Bundled CommonJS modules load node's own modules with require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  });
  const { resolve } = createRequire(import.meta.url);
  for (const [file, module] of Object.entries(GRAMMAR_FILES)) {
    if (installed.some((name) => module.startsWith(`${name}/`))) continue;
    await copyFile(resolve(module), `dist/${file}`);
  }
  return metafile;
}
