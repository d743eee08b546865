import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { runGit } from '../pack/folders.js';
import { regen } from '../support/cli.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { folderForTest } from '../support/service.js';

/** A pack in a checkout whose configuration would have git run a program, and the file that the program makes. */
interface Trap {
  readonly folder: string;
  readonly canary: string;
}

const MISSING = '1234567890'.repeat(4);

/** A checkout that says it is a partial clone: git fetches an object that is missing, and so runs what `remote` names. */
function layPartialClone(remote: (program: string) => string): Trap {
  const folder = packForTest();
  const canary = join(folderForTest(), 'ran');
  const program = join(folderForTest(), 'program');
  writeFileSync(program, `#!/bin/sh\ntouch '${canary}'\n`);
  chmodSync(program, 0o755);
  runGit(folder, 'init', '-q');
  runGit(folder, 'add', '-A');
  runGit(folder, 'commit', '-q', '-m', 'all');
  runGit(folder, 'update-index', '--add', '--cacheinfo', `160000,${MISSING},s`);
  runGit(folder, 'update-index', '--add', '--cacheinfo', `100644,${MISSING},.gitmodules`);
  const [file, config] = [join(folder, '.git/config'), 'extensions.partialClone'];
  writeFileSync(
    file,
    `[core]\nrepositoryformatversion = 1\n[extensions]\npartialClone = origin\n[remote "origin"]\npromisor = true\n${remote(program)}\n`,
  );
  expect(execFileSync('git', ['config', '--file', file, config]).toString()).toBe('origin\n');
  return { folder, canary };
}

const uploadPack = (program: string) => `url = ${folderForTest()}\nuploadpack = ${program}`;

function layBareRepository(): Trap {
  const { folder, canary } = layPartialClone(uploadPack);
  const bare = packForTest();
  for (const name of readdirSync(join(folder, '.git')))
    renameSync(join(folder, '.git', name), join(bare, name));
  writeFileSync(join(bare, 'config'), `[core]\nbare = false\nworktree = ${bare}\n`, { flag: 'a' });
  return { folder: bare, canary };
}

function layForeignParent(): Trap {
  const { folder, canary } = layPartialClone(uploadPack);
  const pack = join(folder, 'mine');
  mkdirSync(pack, { mode: 0o700 });
  cpSync(packForTest(), pack, { recursive: true });
  if (process.geteuid?.() === 0) chownSync(join(folder, '.git'), 65534, 65534);
  return { folder: pack, canary };
}

function laySparseIndex(): Trap {
  const { folder, canary } = layPartialClone(uploadPack);
  runGit(folder, 'config', 'extensions.partialClone', '');
  filesForTest({ 'far/a.py': '', 'near/b.py': '' }, folder);
  runGit(folder, 'config', '--unset', 'extensions.partialClone');
  runGit(folder, 'rm', '-q', '--cached', 's', '.gitmodules');
  runGit(folder, 'add', '-A');
  runGit(folder, 'commit', '-q', '-m', 'more');
  const tree = execFileSync('git', ['rev-parse', 'HEAD:far'], { cwd: folder }).toString().trim();
  runGit(folder, 'sparse-checkout', 'set', '--cone', '--sparse-index', 'near');
  rmSync(join(folder, '.git/objects', tree.slice(0, 2), tree.slice(2)));
  runGit(folder, 'config', 'extensions.partialClone', 'origin');
  return { folder, canary };
}

/** A checkout with everything else in which git's configuration names programs. */
function layPrograms(): Trap {
  const { folder, canary } = layPartialClone(uploadPack);
  const program = `touch '${canary}'; cat`;
  filesForTest(
    { '.gitattributes': '* filter=f diff=d merge=m\n', '.git/more': `[core]\nfsmonitor = ${program}\n` },
    folder,
  );
  writeFileSync(join(folder, '.git/hooks/post-index-change'), `#!/bin/sh\ntouch '${canary}'\n`, {
    mode: 0o755,
  });
  writeFileSync(
    join(folder, '.git/config'),
    `[include]\npath = more\n[filter "f"]\nclean = ${program}\nsmudge = ${program}\nprocess = ${program}\n[diff "d"]\ntextconv = ${program}\ncommand = ${program}\n[alias]\nls-files = !${program}\nconfig = !${program}\n[credential]\nhelper = !${program}\n[gpg]\nprogram = ${program}\n`,
    { flag: 'a' },
  );
  return { folder, canary };
}

const TRAPS: Record<string, () => Trap> = {
  'a partial clone whose remote names a program': () => layPartialClone(uploadPack),
  'a folder that is a bare repository itself': layBareRepository,
  'a parent folder in which another user made a checkout': layForeignParent,
  'a sparse index whose folders are missing': laySparseIndex,
  'a partial clone with a program for ssh': () =>
    layPartialClone((program) => `url = ssh://localhost/x\n[core]\nsshCommand = ${program}`),
  'a partial clone with a remote helper': () =>
    layPartialClone((program) => `url = ext::${program}\n[protocol "ext"]\nallow = always`),
  'a submodule that is a partial clone': () => {
    const { folder, canary } = layPartialClone(uploadPack);
    const outer = packForTest();
    runGit(outer, 'init', '-q');
    runGit(outer, 'add', '-A');
    cpSync(folder, join(outer, 'sub'), { recursive: true });
    runGit(outer, 'update-index', '--add', '--cacheinfo', `160000,${MISSING},sub`);
    filesForTest({ '.gitmodules': '[submodule "sub"]\npath = sub\nurl = ./sub\nupdate = !sh\n' }, outer);
    runGit(outer, 'config', 'submodule.sub.active', 'true');
    return { folder: outer, canary };
  },
  'filters, hooks, aliases and included files': layPrograms,
};

/** Each reads the folder that it runs in, or the settings beside it. */
const COMMANDS: readonly (readonly string[])[] = [
  ['version', 'check'],
  ['version', 'pack', '--list'],
  ['version', 'publish', '--dry-run'],
  ['version', 'bump', 'patch', '--dry-run'],
  ['node', 'init', '--force', '--id', 'pack', '--publisher', 'acme', '--no-input'],
  ['batch', 'jobs.jsonl', '--dry-run'],
  ['completion', 'bash'],
  ['__complete', '--', 'version', 'publish', ''],
  ['doctor'],
];

describe.each(Object.entries(TRAPS))('%s', (_name, lay) => {
  test('runs no program under any command', async () => {
    const { folder, canary } = lay();
    filesForTest({ 'jobs.jsonl': '{"operation":"image.upscaler","image":"a.png"}\n' }, folder);
    for (const argv of COMMANDS) {
      const { exit, stderr } = await regen(argv, { cwd: folder });
      expect([argv, existsSync(canary)]).toEqual([argv, false]);
      expect([exit, stderr]).toEqual([expect.not.toBeOneOf([1]), expect.not.stringContaining('bug')]);
    }
  });
});

test('variables of git in the environment choose no other checkout', async () => {
  const { folder: other } = layPartialClone(uploadPack);
  const folder = packForTest();
  const names = {
    GIT_DIR: join(other, '.git'),
    GIT_WORK_TREE: other,
    GIT_INDEX_FILE: join(other, '.git/index'),
  };
  Object.assign(process.env, names);
  try {
    const { stdout } = await regen(['version', 'pack', '--list'], { cwd: folder });
    expect(stdout.split('\n').map((line) => line.split('\t')[1])).toEqual([
      '__init__.py',
      'pyproject.toml',
      undefined,
    ]);
  } finally {
    for (const name of Object.keys(names)) delete process.env[name];
  }
});
