import { execFileSync } from 'node:child_process';
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

/** What to lay down: text, bytes, an executable's text, or where a link leads. */
export type Content = string | Buffer | { readonly executable: string } | { readonly link: string };

/** A folder of its own for the running test, removed when the test is over. */
export async function createEmptyFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'pack-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

export async function createFolder(files: Readonly<Record<string, Content>>): Promise<string> {
  const folder = await createEmptyFolder();
  await writeFiles(folder, files);
  return folder;
}

export async function writeFiles(folder: string, files: Readonly<Record<string, Content>>): Promise<void> {
  for (const [path, content] of Object.entries(files)) {
    const file = join(folder, path);
    await mkdir(dirname(file), { recursive: true });
    if (typeof content === 'string' || Buffer.isBuffer(content)) await writeFile(file, content);
    else if ('link' in content) await symlink(content.link, file);
    else {
      await writeFile(file, content.executable);
      await chmod(file, 0o755);
    }
  }
}

/** Runs git as a person with no settings of their own would. */
export function runGit(folder: string, ...command: string[]): void {
  const settings = ['user.name=Test', 'user.email=test@example.com', 'protocol.file.allow=always'];
  execFileSync('git', [...settings.flatMap((setting) => ['-c', setting]), ...command], {
    cwd: folder,
    stdio: 'pipe',
    env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' },
  });
}

/** A checkout in which all of these files are tracked. */
export async function createCheckout(files: Readonly<Record<string, Content>>): Promise<string> {
  const folder = await createFolder(files);
  runGit(folder, 'init', '-q');
  runGit(folder, 'add', '-A', '-f');
  runGit(folder, 'commit', '-q', '-m', 'all', '--allow-empty');
  return folder;
}
