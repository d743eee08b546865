import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, type TestContext, test } from 'vitest';
import { commandTree } from '../../../src/cli/command-tree.js';
import { selectSafeValues } from '../../../src/cli/completion/live.js';
import { getOwnIdentity } from '../../../src/disk/process-identity.js';
import { Ledger } from '../../../src/flows/tasks/ledger.js';
import { entry, homeForTest, regen, type Surroundings } from '../../support/cli.js';
import { startTask } from '../../support/generation.js';
import { filesForTest } from '../../support/packs.js';
import { listDeliveries, receiverForTest } from '../../support/receiver.js';
import { folderForTest, publisherForTest, registerVersion, serviceForTest } from '../../support/service.js';
import { startInTerminal } from '../../support/terminal.js';
import { waitFor } from '../../support/wait-for.js';

const tree = commandTree();

/** What the scripts run when the last of these words is being typed. */
function toRequest(words: readonly string[]): string[] {
  return ['__complete', `--current=${words.at(-1)}`, '--', ...words.slice(0, -1)];
}

/** What the program answers to a script, without the descriptions. */
async function completeWords(words: readonly string[], surroundings: Surroundings = {}): Promise<string[]> {
  const { exit, stdout, stderr } = await regen(toRequest(words), surroundings);
  expect({ exit, stderr }).toEqual({ exit: 0, stderr: '' });
  const lines = stdout.split('\n').slice(0, -1);
  return lines.map((line) => line.split('\t')[0] as string);
}

function requireShell(shell: string, { skip }: TestContext): void {
  const folders = (process.env.PATH ?? '').split(':');
  skip(!folders.some((folder) => existsSync(join(folder, shell))), `${shell} is not installed here`);
}

/** An environment in which `regen` is this program, with the service and state folder given. */
function shellEnv(env: Record<string, string> = {}): Record<string, string> {
  const bin = filesForTest({ regen: `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n` });
  chmodSync(join(bin, 'regen'), 0o755);
  return { PATH: `${bin}:${process.env.PATH}`, HOME: homeForTest(), REGEN_NO_AUTOSTART: '1', ...env };
}

interface ShellOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/** What a shell prints that runs a driver which knows the script as SCRIPT, line by line. */
function runShell(
  shell: readonly string[],
  script: string,
  args: readonly string[],
  options: ShellOptions,
): string[] {
  const [program = '', ...flags] = shell;
  const env = { ...shellEnv(options.env), SCRIPT: join(process.cwd(), 'completions', script) };
  const text = execFileSync(program, [...flags, ...args], { cwd: options.cwd, env, encoding: 'utf8' });
  return text.split('\n').filter(Boolean);
}

/** What bash offers after these words, the last of which is being typed; bash itself cuts words at `=`. */
function completeInBash(words: readonly string[], options: ShellOptions = {}): string[] {
  const driver = `source "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _regen; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return runShell(['bash', '--norc', '-c', driver, 'bash'], 'regen.bash', ['regen', ...words], options);
}

/** The same in a bash before 4.0, which cannot quote file names itself. */
function completeInOldBash(words: readonly string[], options: ShellOptions = {}): string[] {
  const driver = `enable -n compopt; source "$SCRIPT"; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _regen; printf '%s\\n' "\${COMPREPLY[@]}"`;
  return runShell(['bash', '--norc', '-c', driver, 'bash'], 'regen.bash', ['regen', ...words], options);
}

/** What fish offers for a line, without the descriptions. */
function completeInFish(line: string, options: ShellOptions = {}): string[] {
  const driver = 'source $SCRIPT; complete -C $argv[1]';
  const offers = runShell(['fish', '--no-config', '-c', driver], 'regen.fish', [line], options);
  return offers.map((offer) => offer.split('\t')[0] as string);
}

const folder = join(process.cwd(), 'completions');
const init = 'autoload -Uz compinit; compinit -u -D';
const sourced = `${init}; source '${folder}/_regen'`;
const found = `fpath=('${folder}' $fpath); ${init}`;

/** An interactive zsh in which Ctrl-X Ctrl-X tells what the line holds now. */
async function startZsh({ cwd = process.cwd(), env }: ShellOptions = {}, load = sourced) {
  const terminal = startInTerminal('zsh', ['-f', '-i'], { cwd, env: shellEnv(env) });
  terminal.type(`${load}; bindkey '^I' complete-word\r`);
  terminal.type(`tell() { print -r -- "\nLINE<$BUFFER>" }; zle -N tell; bindkey '^X^X' tell; echo rea''dy\r`);
  await terminal.shows('ready');
  return {
    async completes(line: string, to: string): Promise<void> {
      terminal.type(`${line}\t\x18\x18`);
      await terminal.shows(`LINE<${to}>`);
      terminal.type('\x15');
    },
    async lists(line: string, ...offers: string[]): Promise<void> {
      terminal.type(`${line}\t`);
      for (const offer of offers) await terminal.shows(offer);
      terminal.type('\x03');
    },
  };
}

test.each([
  ['bash', 'regen.bash'],
  ['zsh', '_regen'],
  ['fish', 'regen.fish'],
  ['powershell', 'regen.ps1'],
])(
  'prints the script for %s that is kept in completions/, which knows no command and no flag',
  async (shell, file) => {
    const { exit, stdout } = await regen(['completion', shell]);
    expect(exit).toBe(0);
    expect(stdout).toBe(readFileSync(join('completions', file), 'utf8'));
    for (const { name } of [...tree.globals, ...tree.commands.flatMap(({ flags }) => flags)])
      expect(stdout.replace(/^ *#.*$/gm, '')).not.toContain(`--${name}`);
    const named = [...stdout.matchAll(/\bregen (?!for )([a-z_]+) /g)].map(([, word]) => word);
    expect(new Set(named)).toEqual(new Set(['__complete', 'completion']));
  },
);

test('offers every command and every flag that is not hidden', async () => {
  for (const { words, flags } of tree.commands) {
    const names = await completeWords([...words, '-']);
    for (const { name, hidden } of flags)
      expect([words, names.includes(`--${name}`)]).toEqual([words, !hidden]);
    expect(await completeWords([...words.slice(0, -1), ''])).toContain(words.at(-1));
  }
  expect(await completeWords([''])).toEqual(tree.words);
});

test('answers with one short line for each candidate', async () => {
  const choices = tree.commands.flatMap(({ flags }) => flags.flatMap((flag) => flag.choices ?? []));
  // A line that begins with a colon stands for paths.
  for (const choice of choices) expect(choice).toMatch(/^[\w.+-][\w.+:;-]*$/);
  for (const words of tree.words.map((word) => [word, '-'])) {
    const { stdout } = await regen(toRequest(words));
    expect(stdout).toMatch(/^(--[\w.-]+\t[^\t\n]{1,80}\n)+$/);
  }
});

test('an old bash is offered file names that it does not run', (context) => {
  requireShell('bash', context);
  const cwd = filesForTest({ '$(touch owned).txt': '', 'a b.txt': '', 'plain.txt': '' });
  const offered = completeInOldBash(['version', 'pack', '-o', ''], { cwd });
  expect(offered.toSorted()).toEqual(['\\$\\(touch\\ owned\\).txt', 'a\\ b.txt', 'plain.txt']);
  expect(completeInOldBash(['version', 'pack', '-o', '~/'], { cwd, env: { HOME: cwd } })).toContain(
    '~/a\\ b.txt',
  );
});

test('bash completes commands, flags, choices and files', (context) => {
  requireShell('bash', context);
  const cwd = filesForTest({ 'packs/a b.txt': '', 'pack.txt': '' });
  expect(completeInBash(['ver'])).toEqual(['version']);
  expect(completeInBash(['version', 'p'])).toEqual(['publish', 'pack']);
  expect(completeInBash(['serve', 'st'])).toEqual(['status', 'stop']);
  expect(completeInBash(['version', 'publish', '--chan'])).toEqual(['--changelog', '--changelog-file']);
  expect(completeInBash(['version', 'list', 'n', '--statuses', 'ba'])).toEqual(['banned']);
  expect(completeInBash(['version', 'list', 'n', '--statuses', '=', 'ba'])).toEqual(['banned']);
  expect(completeInBash(['version', 'publish', 'p'], { cwd })).toEqual(['packs']);
  expect(completeInBash(['version', 'pack', '-o', 'packs/a'], { cwd })).toEqual(['packs/a b.txt']);
  expect(completeInBash(['version', 'pack', '--output', '=', 'packs/a'], { cwd })).toEqual(['packs/a b.txt']);
  expect(completeInBash(['version', 'pack', '--output', '='], { cwd }).toSorted()).toEqual([
    'pack.txt',
    'packs',
  ]);
  expect(completeInBash(['version', 'publish', '--changelog', ''], { cwd })).toEqual([]);
  expect(completeInBash(['version', 'publish', 'packs', ''], { cwd })).toEqual(['packs']);
  expect(completeInBash(['version', 'pack', 'packs', ''], { cwd })).toEqual([]);
});

/** Lines, and what may be the value that ends them. */
const byModel: readonly (readonly [words: readonly string[], offers: string])[] = [
  [['video', 'text2video', '--model', 'vvq2-pro', '--duration', ''], '1 2 3 4 5 6 7 8'],
  [['video', 'text2video', '--model', 'vv2.0', '--duration', '8', '--resolution', ''], '720p'],
  [['video', 'start-end2video', 'a', '--resolution', '360p', '--model', 'vv2.0', '--duration', ''], '4'],
  [['video', 'extend', '--duration', ''], '1 2 3 4 5 6 7'],
  [['video', 'text2video', '--resolution', ''], '540p 720p 1080p 2K'],
  [['video', 'text2video', '--model', 'nope', '--resolution', ''], ''],
  [['image', 'relight', 'a', '--timeout', ''], ''],
];

test('offers durations and resolutions by the model on the line', async () => {
  for (const [words, offers] of byModel.slice(0, 6)) {
    expect((await completeWords(words)).join(' ')).toBe(offers);
  }
});

test('bash, zsh and fish offer them where they are typed', async (context) => {
  const [line, offers] = byModel[1] as (typeof byModel)[number];
  requireShell('bash', context);
  expect(completeInBash(line)).toEqual([offers]);
  expect(completeInBash(byModel[6]?.[0] ?? [])).toEqual([]);
  expect(completeInBash(['video', 'text2video', '--model', 'vvq2-p'])).toEqual(['vvq2-pro-fast', 'vvq2-pro']);
  requireShell('fish', context);
  expect(completeInFish(`regen ${line.join(' ')}`)).toEqual([offers]);
  requireShell('zsh', context);
  const { completes } = await startZsh();
  await completes(`regen ${line.join(' ')}`, `regen ${line.join(' ')}${offers} `);
});

test('fish completes commands, flags, choices and files', (context) => {
  requireShell('fish', context);
  const cwd = filesForTest({ 'packs/a.txt': '', 'pack.txt': '' });
  expect(completeInFish('regen ver')).toEqual(['version']);
  expect(completeInFish('regen version p').sort()).toEqual(['pack', 'publish']);
  expect(completeInFish('regen version publish --chan')).toEqual(['--changelog', '--changelog-file']);
  expect(completeInFish('regen version list n --statuses=ba')).toEqual(['--statuses=banned']);
  expect(completeInFish('regen version publish p', { cwd })).toEqual(['packs/']);
  expect(completeInFish('regen version pack --output packs/', { cwd })).toEqual(['packs/a.txt']);
  expect(completeInFish('regen version pack --output=packs/', { cwd })).toEqual(['--output=packs/a.txt']);
  expect(completeInFish('regen version publish --changelog ', { cwd })).toEqual([]);
});

test('zsh completes commands, flags, choices and files', async (context) => {
  requireShell('zsh', context);
  const { completes, lists } = await startZsh({ cwd: filesForTest({ 'packs/a.txt': '', 'pack.txt': '' }) });
  await completes('regen ver', 'regen version ');
  await completes('regen version publish --skip', 'regen version publish --skip-existing ');
  await completes('regen version list n --statuses=ba', 'regen version list n --statuses=banned ');
  await completes('regen version publish pa', 'regen version publish packs/');
  await completes('regen version pack --output=packs/a', 'regen version pack --output=packs/a.txt ');
  await lists('regen version p', 'pack', 'Write the archive', 'publish', 'Publish a node pack');
});

test('zsh finds the script in a folder of fpath', async (context) => {
  requireShell('zsh', context);
  const { completes } = await startZsh({}, found);
  await completes('regen ver', 'regen version ');
  await completes('regen version publish --skip', 'regen version publish --skip-existing ');
});

/** Asks until the background has read what was wanted, as a person presses the key again. */
function waitForValues(
  words: readonly string[],
  surroundings: Surroundings,
  wanted: string,
): Promise<string[]> {
  return waitFor(async () => {
    const values = await completeWords(words, surroundings);
    expect(values).toContain(wanted);
    return values;
  });
}

async function serviceWithNode() {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  await registerVersion(publisher, '1.0.0');
  await registerVersion(publisher, '2.0.0-rc.1');
  const env = {
    REGEN_BASE_URL: service.url,
    REGEN_TOKEN: service.ownerToken,
    XDG_STATE_HOME: folderForTest(),
  };
  return { service, env };
}

test('offers publishers, nodes and versions of the service that a command would ask', async () => {
  const { env } = await serviceWithNode();
  expect(await waitForValues(['node', 'list', ''], { env }, 'acme')).toEqual(['acme']);
  expect(await waitForValues(['version', 'list', ''], { env }, 'pack')).toEqual(['pack']);
  const versions = await waitForValues(['version', 'update', 'pack', ''], { env }, '1.0.0');
  expect(versions.sort()).toEqual(['1.0.0', '2.0.0-rc.1']);
  expect(await waitForValues(['node', 'install', ''], { env }, 'pack')).toEqual(['pack']);
  const pinned = await waitForValues(['node', 'install', 'other', 'pack@1'], { env }, 'pack@1.0.0');
  expect(pinned.sort()).toEqual(['pack@1.0.0', 'pack@2.0.0-rc.1']);
  expect(await completeWords(['--base-url', 'http://127.0.0.1:9', 'version', 'list', ''], { env })).toEqual(
    [],
  );
});

test('offers each profile what its own credential shows, although both have one address', async () => {
  const { service, env } = await serviceWithNode();
  const home = homeForTest();
  for (const profile of ['owner', 'stranger'])
    await regen(['config', 'set', `profiles.${profile}.base_url`, service.url], { home });
  const { REGEN_BASE_URL: _, REGEN_TOKEN: token, ...plain } = env;
  const words = ['node', 'list', ''];
  await waitForValues(words, { home, env: { ...plain, REGEN_PROFILE: 'owner', REGEN_TOKEN: token } }, 'acme');
  expect(await completeWords(words, { home, env: { ...plain, REGEN_PROFILE: 'stranger' } })).toEqual([]);
});

test('offers the deliveries of webhooks', async () => {
  const { service, env } = await serviceWithNode();
  const { url, ownerToken: token } = service;
  await startTask({ url, token }, { webhook_url: (await receiverForTest()).url });
  const [{ id }] = await waitFor(async () => {
    const log = await listDeliveries(service);
    expect(log).not.toEqual([]);
    return log;
  });
  expect(await waitForValues(['webhook', 'resend', ''], { env }, id)).toContain(id);
});

test('each shell offers what the service knows', async (context) => {
  requireShell('bash', context);
  const { env } = await serviceWithNode();
  await waitForValues(['version', 'list', ''], { env }, 'pack');
  await waitForValues(['version', 'get', 'pack', ''], { env }, '1.0.0');
  expect(completeInBash(['version', 'list', 'pa'], { env })).toEqual(['pack']);
  expect(completeInBash(['version', 'get', 'pack', '2'], { env })).toEqual(['2.0.0-rc.1']);
  requireShell('fish', context);
  expect(completeInFish('regen version get pack 1', { env })).toEqual(['1.0.0']);
  requireShell('zsh', context);
  await (await startZsh({ env })).completes('regen version get pack 2', 'regen version get pack 2.0.0-rc.1 ');
});

test('answers from what it read before, and reads slow services in the background', async () => {
  let requests = 0;
  let answer = () => {};
  const answering = new Promise<void>((done) => {
    answer = done;
  });
  const server = createServer(async (_, response) => {
    requests += 1;
    await answering;
    response.writeHead(200, { 'content-type': 'application/json' }).end('[{"version":"1.0.0"}]');
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { REGEN_BASE_URL: url, XDG_STATE_HOME: folderForTest() };
  const words = ['version', 'get', 'pack', ''];
  expect(await completeWords(words, { env })).toEqual([]);
  answer();
  expect(await waitForValues(words, { env }, '1.0.0')).toEqual(['1.0.0']);
  const before = requests;
  expect(await completeWords(words, { env })).toEqual(['1.0.0']);
  expect(requests).toBe(before);
});

test('prints nothing, starts nothing and exits 0 without a service', async () => {
  const home = homeForTest();
  for (const words of [
    ['node', 'get', ''],
    ['version', 'get', ''],
    ['nonsense', '--what', '=', ''],
  ]) {
    const env = { REGEN_NO_AUTOSTART: '', REGEN_PROFILE: words[0] === 'node' ? 'nowhere' : 'local' };
    expect(await completeWords(words, { home, env })).toEqual([]);
  }
  expect((await regen(['__complete'], { home })).exit).toBe(0);
  expect(readdirSync(home)).toEqual([]);
});

test('offers the profiles of the settings', async () => {
  const settings = { '.config/regen/config.json': '{"profiles.team.base_url":"http://127.0.0.1:9"}' };
  const home = filesForTest(settings, homeForTest());
  expect(await completeWords(['node', 'get', '--profile', ''], { home })).toEqual(['local', 'team']);
});

test('offers the tasks started from here, newest first, by local id where the other is not known', async () => {
  const home = homeForTest();
  const identity = getOwnIdentity();
  const ledger = new Ledger(join(home, '.local/state/regen'), Date.now, identity, home);
  const draft = { service: 'local', operation: 'image.relight', name: 'photo' };
  const { entry: known } = await ledger.open(
    { ...draft, request: { image: 'https://example.com/1.png' } },
    'new',
  );
  await ledger.change(known.id, { task_id: 'task-1' });
  const later = new Ledger(join(home, '.local/state/regen'), () => Date.now() + 1000, identity, home);
  const { entry: unknown } = await later.open(
    { ...draft, request: { image: 'https://example.com/2.png' } },
    'new',
  );
  const newest = ['@last', '@last:image', '@last:video'];
  expect(await completeWords(['task', 'wait', ''], { home })).toEqual([...newest, unknown.id, 'task-1']);
});

test('offers no value that a shell could read as more than one word', () => {
  const hostile = [
    '$(touch x)',
    '`x`',
    'a b',
    "a'b",
    '-rf',
    'a;b',
    '../x',
    'a\u001b[31m',
    '',
    'a*',
    '~',
    'ok-1.0.0+b_c',
  ];
  expect(selectSafeValues(hostile)).toEqual(['ok-1.0.0+b_c']);
});
