import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PEERS = { autocannon: '8.0.0', verdaccio: '6.8.0', fastify: '5' };

/**
 * Installs the packages that the service is measured with, in the folder of temporary files.
 * @returns resolves a module of them; undefined if they cannot be installed
 */
export function installPeers(): NodeJS.Require | undefined {
  const folder = join(tmpdir(), 'regen-bench-peers');
  if (!existsSync(join(folder, 'node_modules/verdaccio'))) {
    mkdirSync(folder, { recursive: true });
    const overrides = { 'node-fetch': '2.7.0' };
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ dependencies: PEERS, overrides }));
    try {
      execFileSync('npm', ['install', '--no-audit', '--no-fund'], { cwd: folder, stdio: 'ignore' });
    } catch {
      return undefined;
    }
  }
  return createRequire(join(folder, 'package.json'));
}

export interface Program {
  readonly pid: number;
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a program of Node that prints its URL on its first line. */
export async function startProgram(argv: readonly string[]): Promise<Program> {
  const child = spawn(process.execPath, argv, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [first] = (await once(child.stdout, 'data')) as [Buffer];
  return { pid: child.pid as number, url: first.toString().split('\n')[0] as string, stop: () => end(child) };
}

/** Starts the built service on a data folder. */
export function startBuiltService(data: string): Promise<Program> {
  const program = `import { startService } from ${JSON.stringify(new URL('../dist/service.js', import.meta.url))};
    const service = await startService({ data: ${JSON.stringify(data)}, port: 0 });
    process.once('SIGTERM', () => service.stop().then(() => process.exit()));
    console.log(service.url);`;
  return startProgram(['--input-type=module', '-e', program]);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || !child.kill()) return;
  await once(child, 'exit');
}
