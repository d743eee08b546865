import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { regen } from '../../support/cli.js';
import { createCopyingEngine } from '../../support/copying-engine.js';
import { startTask } from '../../support/generation.js';
import { listDeliveries, receiverForTest } from '../../support/receiver.js';
import { folderForTest, serviceForTest } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const body = '{"task_id":"t","status":"COMPLETED","generated":["http://a/1"]}';
const id = 'msg_1';

function createHeaders({ age = 0, by = secret, of = body } = {}) {
  const at = new Date(Date.now() - age * 1000);
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return { id, timestamp, signature: new Webhook(by).sign(id, at, of) };
}

const toFlags = ({ id, timestamp, signature }: ReturnType<typeof createHeaders>) => [
  ...['--id', id, '--timestamp', timestamp, '--signature', signature],
];

function verifyWebhook(
  stdin: string,
  flags: readonly string[] = toFlags(createHeaders()),
  env: Record<string, string> = {},
) {
  const own = { REGEN_BASE_URL: 'http://127.0.0.1:1', REGEN_WEBHOOK_SECRET: secret, ...env };
  return regen(['webhook', 'verify', ...flags], { stdin, env: own });
}

describe('webhook verify', () => {
  it('accepts the signature of another implementation', async () => {
    const { exit, stdout } = await verifyWebhook(body);
    expect(exit).toBe(0);
    expect(stdout).toMatch(/^verified\ttrue\nid\tmsg_1\nsent_at\t\d{4}-/);
  });

  it.each([
    ['too old', body, createHeaders({ age: 25 * 60 }), /is 25 min old; at most 5 min are accepted/],
    ['of the future', body, createHeaders({ age: -3 * 3600 }), /is 3 h in the future/],
    [
      'of another secret',
      body,
      createHeaders({ by: `whsec_${Buffer.alloc(24).toString('base64')}` }),
      /another secret/,
    ],
    ['changed', body.replace('COMPLETED', 'FAILED'), createHeaders(), /the body was changed/],
    ['with a line end more', `${body}\n`, createHeaders(), /a line break was added to the body/],
    [
      'with a line end less',
      body,
      createHeaders({ of: `${body}\n` }),
      /a line break was removed from the end of the body/,
    ],
    ['written again', JSON.stringify(JSON.parse(body), null, 2), createHeaders(), /parsed and written again/],
    [
      'written again',
      body,
      createHeaders({ of: body.replaceAll('":', '": ').replaceAll(',"', ', "') }),
      /written again/,
    ],
    ['without a version', body, { ...createHeaders(), signature: 'abc' }, /no version 1 signature/],
    ['with a date', body, { ...createHeaders(), timestamp: '2026-01-31' }, /must be a number of seconds/],
  ])('explains why a webhook that is %s is refused', async (_, stdin, given, why) => {
    const { exit, stdout, stderr } = await verifyWebhook(stdin, toFlags(given));
    expect(exit).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(why);
    expect(stderr).not.toContain(secret.slice(6));
  });

  it('reports all problems at once', async () => {
    const given = createHeaders({ age: 3600, by: `whsec_${Buffer.alloc(24).toString('base64')}` });
    const { stderr } = await verifyWebhook(body, toFlags(given));
    expect(stderr).toMatch(/60 min old.*another secret/s);
  });

  it('reads a recorded request', async () => {
    const { timestamp, signature } = createHeaders();
    const lines = [
      'POST /hook HTTP/1.1',
      'Host: a.example',
      `Content-Length: ${body.length}`,
      `Webhook-Id: ${id}`,
      `webhook-timestamp: ${timestamp}`,
      `webhook-signature: v1,AAAA ${signature}`,
    ];
    expect((await verifyWebhook(`${lines.join('\r\n')}\r\n\r\n${body}\n`, [])).exit).toBe(0);
    expect((await verifyWebhook(`${lines.slice(3).join('\n')}\n\n${body}`, [])).exit).toBe(0);
    const bodyAlone = await verifyWebhook(body, []);
    expect(bodyAlone.exit).toBe(2);
    expect(bodyAlone.stderr).toContain('--id, --timestamp and --signature');
    const partly = await verifyWebhook(body, ['--id', id]);
    expect(partly.stderr).toContain('--timestamp and --signature are required');
  });

  it('takes the secret from the service, the environment or a file, and never prints an invalid one', async () => {
    const service = await serviceForTest();
    const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const received = await regen(['webhook', 'secret'], { env });
    const given = toFlags(createHeaders({ by: received.stdout.trim() }));
    expect((await regen(['webhook', 'verify', ...given], { env, stdin: body })).exit).toBe(0);
    const file = join(folderForTest(), 'secrets');
    writeFileSync(file, `${secret}\n${received.stdout}`);
    expect((await verifyWebhook(body, [...given, '--secret-file', file])).exit).toBe(0);
    const other = await regen(['webhook', 'verify', ...toFlags(createHeaders())], { env, stdin: body });
    expect(other.stderr).toContain('pass the old one with --secret-file <file>');
    const wrong = await verifyWebhook(body, given, { REGEN_WEBHOOK_SECRET: 'my own secret!' });
    expect(wrong.exit).toBe(2);
    expect(wrong.stderr).toContain('REGEN_WEBHOOK_SECRET contains an invalid signing secret');
    expect(wrong.stderr).not.toContain('my own');
  });
});

describe('webhook secret', () => {
  it('is shown on a terminal only with a flag, and rotated on request', async () => {
    const service = await serviceForTest();
    const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const run = (argv: readonly string[], terminal = false) =>
      regen(['webhook', 'secret', ...argv], { env, terminal });
    const first = await run([]);
    expect(first.stdout).toMatch(/^whsec_\S+\n$/);
    const refused = await run([], true);
    expect([refused.exit, refused.stdout]).toEqual([2, '']);
    expect((await run(['--show'], true)).stdout).toBe(first.stdout);
    const dry = await run(['--rotate', '--dry-run']);
    expect(dry.stdout).toContain('/users/webhook-secret/rotate');
    const rotated = await run(['--rotate', '--yes']);
    expect(rotated.stdout).not.toBe(first.stdout);
    expect(rotated.stderr).toContain('Webhooks are also signed with the old secret for 24 hours.');
    expect((await run([])).stdout).toBe(rotated.stdout);
  });

  it('is written to a file that only its user can read', async () => {
    const service = await serviceForTest();
    const env = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
    const path = join(folderForTest(), 'secret.txt');
    const run = (...argv: string[]) =>
      regen(['webhook', 'secret', '--output-file', path, ...argv], { env, terminal: true });
    const first = await run();
    expect([first.exit, first.stdout]).toEqual([0, `${path}\n`]);
    expect([readFileSync(path, 'utf8'), statSync(path).mode & 0o777]).toEqual([
      (await regen(['webhook', 'secret'], { env })).stdout,
      0o600,
    ]);
    // A secret that could not be saved is not replaced.
    expect((await run('--rotate', '--yes')).exit).not.toBe(0);
    expect((await regen(['webhook', 'secret'], { env })).stdout).toBe(readFileSync(path, 'utf8'));
    expect((await run('--rotate', '--yes', '--force')).exit).toBe(0);
    expect((await regen(['webhook', 'secret'], { env })).stdout).toBe(readFileSync(path, 'utf8'));
  });
});

it('webhook commands accept the shortened ids that a terminal shows', async () => {
  const service = await serviceForTest();
  const { url, ownerToken: token } = service;
  await startTask({ url, token }, { webhook_url: (await receiverForTest()).url });
  const [{ id, task_id }] = await waitFor(async () => {
    const log = await listDeliveries(service);
    expect(log).not.toEqual([]);
    return log;
  });
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: token };
  const list = ['webhook', 'deliveries', task_id.slice(0, 8)];
  const { stdout, stderr } = await regen(list, { env, terminal: true, columns: 140 });
  const [shown = ''] = stdout.match(/msg_\w+/) ?? [];
  expect(stderr).toBe('');
  expect(shown.length).toBeLessThan(id.length);
  expect((await regen(['webhook', 'resend', shown], { env })).exit).toBe(0);
});

it('webhook deliveries says on a narrow terminal what became of each', async () => {
  const service = await serviceForTest({}, { engines: { image: createCopyingEngine() } });
  const { url, ownerToken: token } = service;
  const { url: webhook_url } = await receiverForTest(() => [503, { 'retry-after': '3600' }]);
  await startTask({ url, token }, { webhook_url });
  await waitFor(async () => expect((await listDeliveries(service))[0]?.attempts).toBe(1));
  const env = { REGEN_BASE_URL: url, REGEN_TOKEN: token };
  const { stdout } = await regen(['webhook', 'deliveries'], { env, terminal: true, columns: 80 });
  expect(stdout).toMatch(/^ID +STATE +STATUS +(ATTEMPTS +)?NEXT +REASON$/m);
});
