import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { PackError } from './problem.js';

/**
 * Lists the files below a folder that git tracks, including submodules, relative and with `/`. Returns undefined if git is
 * not installed, the folder is not in a checkout, or git tracks nothing in it, such as in a pack that is inside the
 * checkout of its host and ignored there.
 *
 * @throws PackError if git cannot read the checkout
 */
export async function listTrackedFiles(folder: string): Promise<string[] | undefined> {
  const listing = await runGit(folder, ['ls-files', '-z', '--recurse-submodules']);
  if (!listing) return undefined;
  // During a merge, a path is listed once per side.
  return [...new Set(listing.split('\0').slice(0, -1))];
}

/** Lists the files below a folder that git neither tracks nor ignores; empty if git fails. */
export async function listUntrackedFiles(folder: string): Promise<string[]> {
  const listing = await runGit(folder, ['ls-files', '-z', '--others', '--exclude-standard']).catch(
    () => undefined,
  );
  return (listing ?? '').split('\0').slice(0, -1);
}

/** Finds the address of the remote `origin`, or of any other remote. Returns undefined if git fails. */
export async function findRemoteUrl(folder: string): Promise<string | undefined> {
  const listing = await runGit(folder, ['remote', '--verbose']).catch(() => undefined);
  const remotes = (listing ?? '').split('\n').map((line) => /^(\S+)\t(.+) \(fetch\)/.exec(line));
  const found = remotes.find((remote) => remote?.[1] === 'origin') ?? remotes.find(Boolean);
  return found?.[2];
}

/** 50,000 paths of 1,024 bytes. */
const MAX_LISTING = 64 * 1024 ** 2;

function runGit(folder: string, command: readonly string[]): Promise<string | undefined> {
  // The checkout is untrusted: its configuration must not run anything. The owner of its files then does not matter.
  const options = ['-c', 'core.fsmonitor=false', '-c', `core.hooksPath=${devNull}`, '-c', 'safe.directory=*'];
  // Windows looks for git in the working folder first, so the untrusted pack must not be the working folder.
  const cwd = dirname(process.execPath);
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      ['-C', folder, ...options, ...command],
      { cwd, env: buildEnvironment(), maxBuffer: MAX_LISTING, windowsHide: true },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else if (error.code === 'ENOENT' || /not a git repository/.test(stderr) || !isBelowGit(folder))
          resolve(undefined);
        // Otherwise files that git does not track would be packed.
        else
          reject(
            new PackError(`git cannot list the files of ${folder}: ${firstLine(stderr || error.message)}`),
          );
      },
    );
  });
}

function isBelowGit(folder: string): boolean {
  return existsSync(join(folder, '.git')) || (dirname(folder) !== folder && isBelowGit(dirname(folder)));
}

function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}

/** Leaves out the user's settings, and variables such as GIT_DIR, which hooks set and which select another checkout. */
function buildEnvironment(): NodeJS.ProcessEnv {
  const { PATH, Path, SystemRoot, TMPDIR, TEMP } = process.env;
  return {
    ...{ PATH, Path, SystemRoot, TMPDIR, TEMP },
    GIT_CONFIG_GLOBAL: devNull,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
    LC_ALL: 'C',
  };
}
