import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createWebhookHeaders } from '../../src/wire/webhook-signature.js';
import { regen } from '../support/cli.js';
import { runProgram } from '../support/installation.js';
import { findFreePort } from '../support/listen.js';
import { folderForTest } from '../support/service.js';
import { waitFor } from '../support/wait-for.js';

const page = readFileSync('docs/webhooks.md', 'utf8');
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
const genuine = JSON.stringify({ status: 'COMPLETED', task_id: 'task-1', generated: [] });

/** The block of the page in a language that begins with a text. */
function readBlock(language: string, start: string): string {
  const blocks = Array.from(
    page.matchAll(new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``, 'g')),
    ([, code]) => code as string,
  );
  return blocks.find((code) => code.startsWith(start)) as string;
}

interface Receiver {
  readonly child: ChildProcess;
  readonly url: string;
  readonly read: () => string;
}

/** Starts a receiver of the guide as its readers do. */
async function startReceiver(program: string, name: string, code: string): Promise<Receiver> {
  const folder = folderForTest();
  writeFileSync(join(folder, name), code);
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(resolve('.'), join(folder, 'node_modules', 'regen-cli'));
  const port = await findFreePort();
  const env = { ...process.env, REGEN_WEBHOOK_SECRET: secret, PORT: String(port) };
  const child = spawn(program, [name], { cwd: folder, env, stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void child.kill());
  let printed = '';
  child.stdout?.on('data', (chunk) => {
    printed += chunk;
  });
  const url = `http://127.0.0.1:${port}/`;
  await waitFor(() => fetch(url, { method: 'POST', body: '{}', headers: UNSIGNED }));
  return { child, url, read: () => printed };
}

const UNSIGNED = { 'webhook-id': 'msg_0', 'webhook-timestamp': '0', 'webhook-signature': 'v1,no' };

async function postEvent(url: string, body: string, headers: Record<string, string>): Promise<number> {
  return (await fetch(url, { method: 'POST', body, headers })).status;
}

const receivers = [
  ['Node.js', process.execPath, 'receiver.mjs', readBlock('js', '// receiver.mjs')],
  ['Python', 'python3', 'receiver.py', readBlock('python', '# receiver.py')],
] as const;

describe.each(receivers)('the receiver of the guide in %s', (_, program, name, code) => {
  it('accepts what the service signs, and refuses everything else', async () => {
    const { url, read } = await startReceiver(program, name, code);
    const secretFile = join(folderForTest(), 'secret.txt');
    writeFileSync(secretFile, secret);
    const trigger = ['webhook', 'trigger', '--to', url, '--secret-file', secretFile];
    expect(await regen(trigger)).toMatchObject({ exit: 0 });
    await waitFor(() => expect(read()).toMatch(/^image\.task\.updated [\w-]+ COMPLETED$/m));
    expect(await regen([...trigger, '--state', 'failed'])).toMatchObject({ exit: 0 });
    await waitFor(() => expect(read()).toMatch(/^video\.task\.updated [\w-]+ failed$/m));
    const before = read();
    const event = 'image.task.updated';
    const old = { id: 'msg_1', body: genuine, event, now: Date.now() - 10 * 60_000 } as const;
    expect(await postEvent(url, genuine, createWebhookHeaders([secret], old))).toBe(400);
    const fresh = createWebhookHeaders([secret], { ...old, now: Date.now() });
    expect(await postEvent(url, genuine.replace('COMPLETED', 'FAILED'), fresh)).toBe(400);
    expect(
      await postEvent(url, genuine, createWebhookHeaders(['whsec_AAAA'], { ...old, now: Date.now() })),
    ).toBe(400);
    for (const wrong of [{}, { 'webhook-timestamp': 'soon' }, { 'webhook-signature': 'v1,\u00e9 v1,' }]) {
      const headers = Object.keys(wrong).length === 0 ? {} : { ...fresh, ...wrong };
      expect([wrong, await postEvent(url, genuine, headers)]).toEqual([wrong, 400]);
    }
    expect(await postEvent(url, genuine, fresh)).toBe(204);
    await waitFor(() => expect(read()).not.toBe(before));
  });

  it('accepts what the shell of the guide signs', async () => {
    const { url } = await startReceiver(program, name, code);
    const env = { ...process.env, REGEN_WEBHOOK_SECRET: secret, PORT: new URL(url).port };
    const script = readBlock('sh', 'key=');
    expect(await runProgram('bash', ['-c', script], { env })).toMatchObject({ exit: 0, stdout: '204\n' });
  });
});
