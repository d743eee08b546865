import { execFile } from 'node:child_process';
import { cpSync, readdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Ran } from './cli.js';

/** What `npm pack` made, and of what. */
export interface Packed {
  readonly tarball: string;
  /** The folder it was made in; the paths of `files` are below it. */
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly size: number }[];
  /** In bytes. */
  readonly size: number;
}

const notPublished = new Set(['node_modules', '.git', 'dist', 'coverage']);

/**
 * Packs a copy of the repository, its scripts run as for a release. A copy, because the build empties `dist`,
 * from which other tests start the program at the same time.
 */
export async function packRepository(folder: string): Promise<Packed> {
  cpSync('.', folder, { recursive: true, filter: (path) => !notPublished.has(basename(path)) });
  symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
  const { exit, stdout, stderr } = await runNpm(['pack', '--json'], folder);
  if (exit !== 0) throw new Error(stderr);
  // Older versions of npm print what the build prints, too.
  const [{ filename, files, size }] = JSON.parse(stdout.slice(stdout.search(/^\[/m)));
  return { tarball: join(folder, filename), folder, files, size };
}

/** Runs npm with the environment of the tests: certificates, proxies and cache. */
export function runNpm(argv: readonly string[], cwd: string): Promise<Ran> {
  return runProgram('npm', argv, { cwd, env: { ...process.env, npm_config_update_notifier: 'false' } });
}

/** Installs packages for the project in a folder. */
export function installPackages(
  packages: readonly string[],
  folder: string,
  ...flags: string[]
): Promise<Ran> {
  const quick = ['--prefer-offline', '--no-audit', '--no-fund'];
  return runNpm(['install', ...quick, ...flags, '--prefix', folder, ...packages], folder);
}

/** Why npm cannot install anything, if so. Checked first: an install without a network fails only after minutes. */
export async function explainMissingNetwork(): Promise<string | undefined> {
  const argv = ['view', 'npm', 'name', '--fetch-retries=0', '--fetch-timeout=15000'];
  const { exit, stderr } = await runNpm(argv, tmpdir());
  const code = exit === 0 ? undefined : unreachable.exec(stderr)?.[0];
  return code && `npm cannot reach a registry (${code})`;
}

const unreachable =
  /\b(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|EHOSTUNREACH|E?TIMEDOUT|ENOTCACHED|ERR_SOCKET_TIMEOUT|network timeout)\b/;

/** Runs a program to its end. */
export function runProgram(
  program: string,
  argv: readonly string[],
  surroundings: { readonly cwd?: string; readonly env?: NodeJS.ProcessEnv },
): Promise<Ran> {
  return new Promise((done) => {
    const options = { ...surroundings, maxBuffer: 64 * 1024 * 1024 };
    execFile(program, argv, options, (error, stdout, stderr) => {
      const exit = error ? (typeof error.code === 'number' ? error.code : 1) : 0;
      done({ exit, stdout, stderr: stderr || (error?.message ?? '') });
    });
  });
}

/** The manifests of all packages below a `node_modules` folder. */
export function listPackages(modules: string): string[] {
  return readdirSync(modules, { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?:^|node_modules\/)(?:@[^/]+\/)?[^@/][^/]*\/package\.json$/.test(path))
    .map((path) => join(modules, path));
}
