import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { Output } from '../../../src/cli/terminal/output.js';
import { createSafePrompts, type Prompts } from '../../../src/cli/terminal/prompts.js';
import type { System } from '../../../src/cli/terminal/system.js';
import { homeForTest, regen, startRegen } from '../../support/cli.js';
import { folderForTest } from '../../support/service.js';

const HOSTILE = '\x1b]52;c;b3duZWQ=\x07\u009b2J\u202ename';
/** What moves the cursor, colours, or turns the reading direction. */
const CONTROLS = /[^\P{Cc}\t\n]|\p{Bidi_Control}/u;

function captureOutput() {
  let text = '';
  const stream = new Writable({
    write(chunk, _, done) {
      text += chunk;
      done();
    },
  });
  const system = { stdout: stream, stderr: stream, env: {} } as unknown as System;
  return { output: new Output(system, {}), read: () => text };
}

test('text of a service in a message cannot look like another message', async () => {
  const { output, read } = captureOutput();
  await output.note(`Uploaded ${HOSTILE}\nerror: Run curl x | sh`);
  await output.warn('It said: no.\r\n\n  error: Sign in at http://x');
  await output.tell('Sign in:', '  http://id.example');
  expect(read()).toBe(
    'Uploaded \\u009b2J\\u202ename error: Run curl x | sh\nwarning: It said: no. error: Sign in at http://x\nSign in:\n  http://id.example\n',
  );
});

test('questions, proposals and choices are escaped, and the chosen one is returned as it is', async () => {
  const seen: unknown[] = [];
  const plain: Prompts = {
    password: async (...asked) => String(seen.push(asked)),
    confirm: async (...asked) => seen.push(asked) > 0,
    input: async (message, initial, findProblem) => {
      seen.push(message, initial, findProblem?.('x'));
      return 'x';
    },
    select: async (message, choices) => {
      seen.push(message, choices);
      return choices[1] as string;
    },
  };
  const prompts = createSafePrompts(async () => plain);
  await prompts.password(`Token of ${HOSTILE}:`);
  await prompts.confirm(`Delete ${HOSTILE}\nNo?`);
  await prompts.input(`Name ${HOSTILE}:`, HOSTILE, () => `'${HOSTILE}' is taken`);
  expect(await prompts.select('Which?', ['a', HOSTILE])).toBe(HOSTILE);
  expect(seen.flat(2).join('\t')).toContain('name');
  for (const text of seen.flat(2)) expect(text).not.toMatch(/\p{Cc}|\p{Bidi_Control}/u);
});

test('the log of the service is escaped on a terminal, and whole in a pipe', async () => {
  const home = homeForTest();
  const folder = join(home, '.local', 'state', 'regen');
  mkdirSync(folder, { recursive: true });
  const log = `{"msg":"started"}\n{"path":"/${HOSTILE}"}\n`;
  writeFileSync(join(folder, 'service.log'), log);
  const shown = await regen(['serve', 'logs'], { home, terminal: true });
  expect(shown.stdout).not.toMatch(CONTROLS);
  expect(shown.stdout).toContain('{"path":"/\\u009b2J\\u202ename"}\n');
  expect((await regen(['serve', 'logs'], { home })).stdout).toBe(log);
});

test('a token of a service is one word for a shell, and one line of a header', async () => {
  const token = "a'b; touch x\nX-Other: 1\x1b[2J";
  const server = createServer((_, response) =>
    response
      .writeHead(200, { 'content-type': 'application/json' })
      .end(JSON.stringify({ token, expires_at: '2030-01-01T00:00:00Z' })),
  );
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(() => void server.close());
  const env = {
    REGEN_BASE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    REGEN_TOKEN: 't',
  };
  const cwd = folderForTest();
  const create = async (format: string) => {
    const argv = ['admin', 'generate-token', '--format', format, '--output-file', `${format}.txt`];
    const { exit, stderr } = await regen(argv, { env, cwd });
    expect(exit, stderr).toBe(0);
    return readFileSync(join(cwd, `${format}.txt`), 'utf8');
  };
  expect(await create('env')).toBe("REGEN_ADMIN_TOKEN='a'\\''b; touch x X-Other: 1'\n");
  expect(await create('header')).toBe("Authorization: Bearer a'b; touch x X-Other: 1\n");
});

test('an error that nothing handles is printed without controls', async () => {
  const file = join(folderForTest(), 'throw.cjs');
  writeFileSync(file, `setImmediate(() => { throw new Error(${JSON.stringify(HOSTILE)}); });`);
  const { exit, stderr } = await startRegen(['config', 'list'], {
    env: { NODE_OPTIONS: `--require=${file}` },
  }).ended;
  expect(exit).toBe(1);
  expect(stderr).toContain('name');
  expect(stderr).not.toMatch(CONTROLS);
});
