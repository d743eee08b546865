import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { type BuildOptions, build, type Metafile } from 'esbuild';
import { GRAMMAR_FILES } from '../src/python/definitions/grammar.js';
import { writeCommands } from './commands.js';

/** Bundles src into dist, split so that a command loads only what it runs. */
export async function bundle(): Promise<Metafile> {
  writeCommands();
  const metafile = await bundlePrograms({
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
    splitting: true,
  });
  const { resolve } = createRequire(import.meta.url);
  const installed = await listInstalled();
  for (const [file, module] of Object.entries(GRAMMAR_FILES)) {
    if (installed.some((name) => module.startsWith(`${name}/`))) continue;
    await copyFile(resolve(module), `dist/${file}`);
  }
  return metafile;
}

/**
 * Bundles programs with what package.json does not list as a dependency: one file of a bundle is found quicker
 * than many of a folder.
 */
export async function bundlePrograms(
  options: Pick<BuildOptions, 'entryPoints' | 'outdir' | 'chunkNames' | 'splitting'>,
): Promise<Metafile> {
  const { metafile, outputFiles } = await build({
    ...options,
    write: false,
    bundle: true,
    metafile: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: await listInstalled(),
    // Bundled CommonJS modules load node's own modules with require.
    banner: {
      js: "import { createRequire as requireFrom } from 'node:module'; const require = requireFrom(import.meta.url);",
    },
    logLevel: 'warning',
  });
  // Unchanged files are not written again: programs of another run of the tests may be loading them.
  for (const { path, contents } of outputFiles) {
    if (existsSync(path) && readFileSync(path).equals(contents)) continue;
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, contents);
  }
  return metafile;
}

async function listInstalled(): Promise<string[]> {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  return Object.keys({ ...dependencies, ...optionalDependencies });
}
