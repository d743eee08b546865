import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { DEFAULT_LIMITS } from '../contract/schema/limits.js';
import { isLoopbackHost } from '../contract/schema/loopback.js';
import { PackError } from './problem.js';

/** A commit of a repository that another person made. */
export interface GitSource {
  readonly url: string;
  /** A tag, a branch or the whole id of a commit. */
  readonly ref: string;
}

export interface GitFetchOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly signal: AbortSignal;
}

/** What git may take together: time, and bytes of what it writes. */
const MAX_SECONDS = 600;
const MAX_OUTPUT_BYTES = 16 * 1024 ** 2;

/**
 * Checks out one commit of a repository into a new folder.
 *
 * The repository is not trusted: git starts with no configuration but this, so neither hooks nor filters of anyone run,
 * speaks only https and ssh, and writes no more than a pack may have. Submodules stay empty.
 *
 * @throws PackError if it is not a repository, has no such commit, or is too large
 */
export async function fetchGitSource(
  { url, ref }: GitSource,
  folder: string,
  options: GitFetchOptions,
): Promise<void> {
  const protocol = requireRemote(url);
  if (!/^[\w.][\w./+@-]*$/.test(ref) || ref.includes('..'))
    throw new PackError(`'${ref}' is not a tag, a branch or a commit.`);
  mkdirSync(folder);
  const git = (args: readonly string[]) => runGit(folder, protocol, args, options);
  await git(['init', '--quiet', '--template=']);
  await git(['fetch', '--quiet', '--depth=1', '--no-tags', '--no-recurse-submodules', '--', url, ref]);
  // What it unpacks to is known before it is written.
  const listed = await git(['ls-tree', '-r', '-l', '-z', 'FETCH_HEAD']);
  const sizes = listed
    .split('\0')
    .filter(Boolean)
    .map((line) => Number(line.split(/\s+/)[3]) || 0);
  const { archiveEntries, archiveUnpacked } = DEFAULT_LIMITS;
  if (sizes.length > archiveEntries || sizes.reduce((sum, size) => sum + size, 0) > archiveUnpacked)
    throw new PackError(`The source is larger than a pack may be.`);
  await git(['checkout', '--quiet', '--detach', 'FETCH_HEAD']);
}

/** @returns the protocol that git may speak */
function requireRemote(url: string): string {
  const { protocol = '', hostname = '' } = URL.canParse(url) ? new URL(url) : {};
  // Without a protocol, git@example.com:owner/name is ssh, too.
  if (protocol === 'https:' || protocol === 'ssh:' || /^[\w.]+@[\w.-]+:[^:]*$/.test(url))
    return protocol === 'https:' ? 'https' : 'ssh';
  if (protocol === 'http:' && isLoopbackHost(hostname)) return 'http';
  throw new PackError(`'${url}' is neither a folder nor a git URL that begins with https:// or ssh://.`);
}

/** Settings for a repository that is not trusted. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.protectNTFS=true',
  'core.protectHFS=true',
  'fetch.fsckObjects=true',
  // One file, whose size the system limits.
  'fetch.unpackLimit=1',
  'gc.auto=0',
  'maintenance.auto=false',
  'submodule.recurse=false',
  'protocol.version=2',
];

/** What git finds in the environment: how to reach the network, and nothing that changes what it does. */
const PASSED = ['PATH', 'HTTPS_PROXY', 'https_proxy', 'NO_PROXY', 'no_proxy', 'SSH_AUTH_SOCK', 'SystemRoot'];

async function runGit(
  cwd: string,
  protocol: string,
  args: readonly string[],
  { env, signal }: GitFetchOptions,
): Promise<string> {
  const settings = SETTINGS.flatMap((setting) => ['-c', setting]);
  const command = limitFiles(['git', ...settings, ...args]);
  const child = spawn(command[0] as string, command.slice(1), {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: MAX_SECONDS * 1000,
    killSignal: 'SIGKILL',
    signal,
    env: {
      ...Object.fromEntries(PASSED.map((name) => [name, env[name]])),
      ...{ HOME: cwd, LC_ALL: 'C', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: devNull },
      ...{ GIT_ATTR_NOSYSTEM: '1', GIT_CEILING_DIRECTORIES: cwd, GIT_ALLOW_PROTOCOL: protocol },
      ...{ GIT_TERMINAL_PROMPT: '0', GIT_SSH_COMMAND: 'ssh -oBatchMode=yes', GIT_LFS_SKIP_SMUDGE: '1' },
    },
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      if (output[name].length > MAX_OUTPUT_BYTES) child.kill('SIGKILL');
    });
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject).once('close', resolve);
  }).catch((error: NodeJS.ErrnoException) => {
    signal.throwIfAborted();
    throw error.code === 'ENOENT' ? new PackError('git is not installed.') : error;
  });
  if (code === 0) return output.stdout;
  const why = output.stderr.trim().split('\n').at(-1) ?? '';
  throw new PackError(
    code === null || /too large|File size limit/i.test(output.stderr)
      ? 'The source is larger than a pack may be, or takes too long to fetch.'
      : `git could not read the source: ${why.replace(/^(fatal|error): /, '')}.`,
  );
}

/** Limits each file that git writes; other systems have no such limit. */
function limitFiles(command: readonly string[]): readonly string[] {
  if (process.platform === 'win32') return command;
  const blocks = DEFAULT_LIMITS.archive / 512;
  return ['sh', '-c', `ulimit -f ${blocks} && exec "$@"`, 'sh', ...command];
}
