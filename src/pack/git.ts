import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { dirname, join } from 'node:path';
import { PackError } from './problem.js';

/**
 * The paths below a folder that git tracks, submodules included, relative to it and with `/`. `undefined` where git is
 * not installed, the folder is in no checkout, or git tracks nothing in it (a pack inside the checkout of its host, which
 * ignores it, is outside git).
 *
 * @throws PackError where there is a checkout that git cannot read
 */
export async function trackedFiles(folder: string): Promise<string[] | undefined> {
  const listing = await git(folder, ['ls-files', '-z', '--recurse-submodules']);
  if (!listing) return undefined;
  // During a merge a path is listed once for each side.
  return [...new Set(listing.split('\0').slice(0, -1))];
}

/** Files below a folder that git neither tracks nor ignores; empty where git does not say. */
export async function untrackedFiles(folder: string): Promise<string[]> {
  const listing = await git(folder, ['ls-files', '-z', '--others', '--exclude-standard']).catch(
    () => undefined,
  );
  return (listing ?? '').split('\0').slice(0, -1);
}

/** Where a checkout came from: the address of its remote `origin`, else of any. `undefined` where git does not say. */
export async function remoteUrl(folder: string): Promise<string | undefined> {
  const listing = await git(folder, ['remote', '--verbose']).catch(() => undefined);
  const remotes = (listing ?? '').split('\n').map((line) => /^(\S+)\t(.+) \(fetch\)/.exec(line));
  const found = remotes.find((remote) => remote?.[1] === 'origin') ?? remotes.find(Boolean);
  return found?.[2];
}

/** 50,000 paths of 1,024 bytes. */
const MAX_LISTING = 64 * 1024 ** 2;

function git(folder: string, command: readonly string[]): Promise<string | undefined> {
  // A checkout may come from anywhere: its configuration must run nothing, and the owner of its files does not matter then.
  const options = ['-c', 'core.fsmonitor=false', '-c', `core.hooksPath=${devNull}`, '-c', 'safe.directory=*'];
  // Windows looks for git in the working folder first, and the pack's is not to be trusted with that.
  const cwd = dirname(process.execPath);
  return new Promise((resolve, reject) => {
    execFile(
      'git',
      ['-C', folder, ...options, ...command],
      { cwd, env: environment(), maxBuffer: MAX_LISTING, windowsHide: true },
      (error, stdout, stderr) => {
        if (!error) resolve(stdout);
        else if (error.code === 'ENOENT' || /not a git repository/.test(stderr) || !isBelowGit(folder))
          resolve(undefined);
        // To go on as if outside git would pack what git does not track.
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

/** Without GIT_DIR, GIT_INDEX_FILE and the like, which hooks set and which name another checkout; without the user's settings. */
function environment(): NodeJS.ProcessEnv {
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
