import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readManifest } from '../../../src/pack/manifest.js';
import { entry, regen } from '../../support/cli.js';
import { packForTest } from '../../support/packs.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { startInTerminal, startRegenInTerminal, type Terminal } from '../../support/terminal.js';

async function listenForTest(answer: RequestListener): Promise<string> {
  const server = createServer(answer);
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function answerJson(value: unknown): RequestListener {
  return (_, response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

async function answerQuestions(terminal: Terminal): Promise<void> {
  const answers = [
    ['Publisher id:', 'acme'],
    ['Version:', ''],
    ['Description', 'Does things'],
    ['License', 'MIT'],
    ['Repository', ''],
  ] as const;
  for (const [question, answer] of answers) {
    await terminal.shows(question);
    terminal.type(`${answer}\r`);
  }
}

function emptyPack(): string {
  const cwd = join(folderForTest(), 'light');
  mkdirSync(cwd);
  return cwd;
}

test('node init asks a person, and takes the answers', async () => {
  const cwd = emptyPack();
  const terminal = startRegenInTerminal(['node', 'init'], { cwd });
  await answerQuestions(terminal);
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(terminal.screen()).toContain('Next: regen version check');
  expect(await readManifest(cwd)).toMatchObject({
    ok: true,
    manifest: { publisher: 'acme', node: { id: 'light', license: 'MIT' }, version: { version: '1.0.0' } },
  });
});

test('questions are asked on stderr, so that stdout can go to a file', async () => {
  const cwd = emptyPack();
  const terminal = startInTerminal(
    '/bin/sh',
    ['-c', `'${process.execPath}' '${entry}' node init > answer.txt`],
    {
      cwd,
    },
  );
  await answerQuestions(terminal);
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(readFileSync(join(cwd, 'answer.txt'), 'utf8')).toBe(`${join(cwd, 'pyproject.toml')}\n`);
});

test('Ctrl-C at a question ends with 130 and writes nothing', async () => {
  const cwd = emptyPack();
  const terminal = startRegenInTerminal(['node', 'init'], { cwd });
  await terminal.shows('Publisher id:');
  terminal.type('\x03');
  expect(await terminal.exit, terminal.screen()).toBe(130);
  expect(terminal.screen()).not.toMatch(/bug|at .*\.js/);
  expect(existsSync(join(cwd, 'pyproject.toml'))).toBe(false);
});

test('Ctrl-C at the question for a secret ends only the question', async () => {
  const env = { REGEN_BASE_URL: (await serviceForTest()).url };
  const terminal = startRegenInTerminal(['auth', 'login', '--with-token'], { env });
  await terminal.shows('Token:');
  terminal.type('ab');
  await terminal.shows('**');
  terminal.type('\x03');
  expect(await terminal.exit, terminal.screen()).toBe(130);
  expect(terminal.screen()).not.toContain('visibility');
});

test('Ctrl-C while publishing exits 130 and shows how to continue', async () => {
  const items = [{ identifier: { node_id: 'pack', version: '1.0.0' }, status: 'not_found' }];
  const url = await listenForTest((request, response) => {
    // The registration is never answered.
    if (request.url?.startsWith('/bulk')) answerJson({ node_versions: items })(request, response);
  });
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: 't', REGEN_PUBLISH_TOKEN: 'p' };
  const terminal = startRegenInTerminal(['version', 'publish', packForTest()], { env });
  await terminal.shows('Registering pack 1.0.0');
  terminal.type('\x03');
  await terminal.shows('Run the same command again');
  expect(await terminal.exit, terminal.screen()).toBe(130);
  // The spinner hides the cursor, and must give it back.
  expect(terminal.raw().lastIndexOf('\x1b[?25h')).toBeGreaterThan(terminal.raw().lastIndexOf('\x1b[?25l'));
});

test('a terminal without a size shows lines instead of a spinner', async () => {
  const pack = packForTest();
  const command = `stty cols 0 rows 0; exec ${process.execPath} ${entry} version check ${pack}`;
  const terminal = startInTerminal('/bin/sh', ['-c', command]);
  expect(await terminal.exit, terminal.screen()).toBe(0);
  expect(terminal.raw().length).toBeLessThan(10_000);
});

const colours = new RegExp(`${String.fromCharCode(27)}\\[\\d*m`, 'g');

test('text from a service cannot control the terminal', async () => {
  const hostile = '\x1b]0;owned\x07\x1b[2J\x1b[?1049h\u009b31mred\u202etxt\rback\x08\x1bc';
  const node = {
    id: 'light',
    name: hostile,
    description: `two\n${hostile}`,
    tags: [hostile],
    [hostile]: 'key',
  };
  const env = { REGEN_BASE_URL: await listenForTest(answerJson(node)) };
  for (const argv of [
    ['node', 'get', 'light'],
    ['node', 'get', 'light', '--json'],
    ['api', '/nodes/light'],
  ]) {
    const terminal = startRegenInTerminal(argv, { env });
    expect(await terminal.exit, terminal.screen()).toBe(0);
    // Colours of our own, and the line ends of a terminal.
    const rest = terminal.raw().replace(colours, '').replaceAll('\r\n', '');
    expect(rest).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u);
    expect(rest).toContain('light');
  }
});

test('text from a service cannot control the terminal behind a pipe either', async () => {
  const hostile = '\x1b]0;owned\x07\x1b[31mred\u202etxt\u009b2J';
  const env = { REGEN_BASE_URL: await listenForTest(answerJson({ id: 'light', name: hostile })) };
  const { exit, stdout } = await regen(['node', 'get', 'light'], { env });
  expect(exit).toBe(0);
  expect(stdout).not.toMatch(/[^\P{Cc}\t\n]|\p{Bidi_Control}/u);
  expect(stdout).toContain('red\\u202etxt');
});

// Soft hyphen, byte order mark, word joiner, zero width space, filler, a tag, and what ends or turns a line.
const HIDDEN = '\u00ad\ufeff\u2060\u200b\u3164\u{e0041}\u2028\u202e\u2066\u061c\ufff9';

test.each(['name', 'message'])(
  'hidden characters in a %s are shown by their numbers, in every form',
  async (field) => {
    const needed = '👩‍👧 ❤️ 🏴󠁧󠁢󠁥󠁮󠁧󠁿 می‌خواهم';
    const text = `a${HIDDEN}b ${needed}`;
    const env = {
      REGEN_BASE_URL: await listenForTest((_, response) =>
        response.writeHead(field === 'name' ? 200 : 400).end(JSON.stringify({ id: 'light', [field]: text })),
      ),
    };
    for (const argv of [
      ['node', 'get', 'light'],
      ['node', 'get', 'light', '--json'],
      ['api', '/x'],
    ]) {
      for (const terminal of [true, false]) {
        // `api` passes the bytes of the service on to a pipe.
        if (argv[0] === 'api' && !terminal) continue;
        const { stdout, stderr } = await regen(argv, { env, terminal });
        expect(stdout + stderr).not.toMatch(new RegExp(`[${HIDDEN}]`, 'u'));
        const escaped =
          '\\u00ad\\ufeff\\u2060\\u200b\\u3164\\udb40\\udc41\\u2028\\u202e\\u2066\\u061c\\ufff9';
        expect(stdout + stderr).toContain(`a${escaped}b ${needed}`);
      }
    }
  },
);

// With the square of the length as many steps it would not end within the limit of the tests.
test('a name of blanks is shown as soon as any other', async () => {
  const name = `${' '.repeat(1_000_000)}x`;
  const env = { REGEN_BASE_URL: await listenForTest(answerJson({ id: 'light', name })) };
  const terminal = startRegenInTerminal(['node', 'get', 'light'], { env });
  expect(await terminal.exit).toBe(0);
  const refused = await listenForTest((_, response) =>
    response.writeHead(400).end(JSON.stringify({ message: name })),
  );
  expect((await regen(['node', 'get', 'light'], { env: { REGEN_BASE_URL: refused } })).exit).toBe(2);
});

const ASCII = /^[\t\r\n\x20-\x7e]*$/;

test.each([
  ['for a screen reader', { REGEN_ACCESSIBLE: '1' }],
  ['on a simple terminal', { TERM: 'dumb' }],
  ['without Unicode', { LC_ALL: 'C' }],
])('questions are lines of plain text %s', async (_, env) => {
  const service = await serviceForTest();
  const connected = { ...env, REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  const create = startRegenInTerminal(['publisher', 'create'], { env: connected });
  await create.shows('Publisher id:');
  create.type('x\r');
  await create.shows('It must have at least 3 characters.');
  create.type('abc\r');
  await create.shows('(abc)');
  create.type('\r');
  expect(await create.exit, create.screen()).toBe(0);
  expect(create.raw().replace(colours, '')).toMatch(ASCII);
  const member = startRegenInTerminal(['publisher', 'member', 'set', 'abc', 'owner', '--dry-run'], {
    env: connected,
  });
  await member.shows('1. owner');
  member.type('1\r');
  expect(await member.exit, member.screen()).toBe(0);
  const secret = startRegenInTerminal(['auth', 'login', '--with-token'], { env: connected });
  await secret.shows('Token:');
  secret.type('hidden-text\x03');
  expect(await secret.exit, secret.screen()).toBe(130);
  expect(secret.screen()).not.toContain('hidden-text');
});

test('Ctrl-C at a plain question ends with 130', async () => {
  const terminal = startRegenInTerminal(['node', 'init'], {
    cwd: emptyPack(),
    env: { REGEN_ACCESSIBLE: '1' },
  });
  await terminal.shows('Publisher id:');
  terminal.type('\x03');
  expect(await terminal.exit, terminal.screen()).toBe(130);
});

test('a screen reader gets lines instead of tables and a spinner', async () => {
  const service = await serviceForTest();
  const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken, REGEN_ACCESSIBLE: '1' };
  await regen(['publisher', 'create', 'acme', '--name', 'Acme'], { env });
  const publish = startRegenInTerminal(['version', 'check', packForTest()], { env });
  expect(await publish.exit, publish.screen()).toBe(0);
  expect(publish.raw()).not.toMatch(new RegExp(`${String.fromCharCode(27)}\\[[0-9]*[A-K]`));
  const list = startRegenInTerminal(['publisher', 'list'], { env });
  expect(await list.exit).toBe(0);
  expect(list.screen()).toMatch(/^ID +acme\r$/m);
});
