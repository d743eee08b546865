import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type OutputOptions, type RolldownOptions, rolldown } from 'rolldown';
import { GRAMMAR_FILES } from '../src/python/definitions/grammar.js';
import { writeCommands } from './commands.js';

/** Bundles src into dist, split so that a command loads only what it runs. Returns the modules in it. */
export async function bundle(): Promise<string[]> {
  writeCommands();
  const modules = await Promise.all([bundleCommandLine(), bundlePackage()]);
  const { resolve } = createRequire(import.meta.url);
  const installed = await listInstalled();
  for (const [file, module] of Object.entries(GRAMMAR_FILES)) {
    if (installed.some((name) => module.startsWith(`${name}/`))) continue;
    await copyFile(resolve(module), `dist/${file}`);
  }
  return modules.flat();
}

/** What every command loads first; all of it in one file, because finding a file takes longer than reading it. */
const STARTS =
  /src\/(cli\/(main|command\/(help|version)|terminal\/system|views\/tree)|disk\/(built-program|process-identity))\.ts|package\.json/;

/** The command line is CommonJS, which Node starts in half the time that it needs for as many ES modules. */
function bundleCommandLine(): Promise<string[]> {
  return writeBundle(
    {
      input: { cli: 'src/cli/index.ts' },
      plugins: [
        {
          name: 'service',
          // One copy of the service is enough, and its packages are ES modules.
          resolveId: (id) =>
            id.endsWith('/service/index.js') ? { id: '../service.js', external: true } : null,
        },
      ],
    },
    {
      format: 'cjs',
      entryFileNames: '[name].cjs',
      chunkFileNames: 'chunks/[name]-[hash].cjs',
      codeSplitting: { groups: [{ name: 'start', test: STARTS }] },
    },
  );
}

function bundlePackage(): Promise<string[]> {
  return bundlePrograms(
    {
      client: 'src/client/index.ts',
      service: 'src/service/index.ts',
      'pack-reader': 'src/python/reader.ts',
      'image-worker': 'src/preview/image/worker.ts',
      'video-worker': 'src/preview/video/worker.ts',
    },
    'dist',
  );
}

/** Bundles programs as ES modules. */
export function bundlePrograms(input: Record<string, string>, folder: string): Promise<string[]> {
  return writeBundle({ input }, { format: 'esm', chunkFileNames: 'chunks/[name]-[hash].js' }, folder);
}

/**
 * Bundles programs with what package.json does not list as a dependency: one file of a bundle is found quicker
 * than many of a folder.
 */
async function writeBundle(
  options: RolldownOptions,
  output: OutputOptions,
  folder = 'dist',
): Promise<string[]> {
  const installed = await listInstalled();
  const build = await rolldown({
    ...options,
    platform: 'node',
    external: (id) => installed.some((name) => id === name || id.startsWith(`${name}/`)),
  });
  const written = await build.generate({
    ...output,
    minify: { compress: true, mangle: false, codegen: false },
  });
  await build.close();
  return written.output.flatMap((file) => {
    if (file.type === 'asset') throw new Error(`Unexpected file ${file.fileName}.`);
    writeIfChanged(join(folder, file.fileName), file.code);
    return file.moduleIds;
  });
}

/** Unchanged files are not written again: programs of another run of the tests may be loading them. */
function writeIfChanged(path: string, text: string): void {
  if (existsSync(path) && readFileSync(path, 'utf8') === text) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

async function listInstalled(): Promise<string[]> {
  const { dependencies, optionalDependencies } = JSON.parse(await readFile('package.json', 'utf8'));
  return Object.keys({ ...dependencies, ...optionalDependencies });
}
