import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, expect, type TestContext, test } from 'vitest';
import { type RunningService, startService } from '../../src/service/index.js';
import type { Ran } from '../support/cli.js';
import { createZip } from '../support/create-zip.js';
import { explainMissingNetwork, installPackages, runProgram } from '../support/installation.js';

const project = mkdtempSync(join(tmpdir(), 'regen-openapi-'));
const bin = join(project, 'node_modules', '.bin');
let offline: string | undefined;
let installed: Ran;
let service: RunningService;

beforeAll(async () => {
  offline = await explainMissingNetwork();
  if (offline) return;
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  // openapi-typescript writes with the API of TypeScript 5.
  const tools = [
    '@redocly/cli@2',
    'openapi-typescript@7',
    'openapi-fetch@0',
    'typescript@5',
    '@types/node@20',
  ];
  installed = await installPackages(tools, project);
  service = await startService();
});

afterAll(async () => {
  await service?.stop();
  rmSync(project, { recursive: true, force: true, maxRetries: 5 });
});

const runTool = (name: string, ...argv: string[]) =>
  runProgram(join(bin, name), argv, { cwd: project, env: { ...process.env, REDOCLY_TELEMETRY: 'off' } });
const needsInstall = ({ skip }: TestContext) => {
  skip(offline !== undefined, offline);
  expect(installed).toMatchObject({ exit: 0 });
};

test('Redocly finds nothing in the OpenAPI document with its recommended rules', async (context) => {
  needsInstall(context);
  cpSync('docs/openapi.json', join(project, 'openapi.json'));
  const argv = ['openapi.json', '--extends', 'recommended', '--format', 'json'];
  const { exit, stdout } = await runTool('redocly', 'lint', ...argv);
  expect(exit).toBe(0);
  expect(JSON.parse(stdout).totals).toMatchObject({ errors: 0, warnings: 0 });
});

test('a client that openapi-typescript generates with its defaults publishes a version and starts a relight', async (context) => {
  needsInstall(context);
  expect(
    await runTool('openapi-typescript', `${service.url}/openapi.json`, '-o', 'service.ts'),
  ).toMatchObject({
    exit: 0,
  });
  writeFileSync(join(project, 'program.ts'), PROGRAM);
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2023', types: ['node'] },
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
  };
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['program.ts'] }));
  expect(await runTool('tsc')).toEqual({ exit: 0, stdout: '', stderr: '' });

  const pack = await createZip({
    'pyproject.toml': '[project]\nname = "hello"\nversion = "1.0.0"\n',
    '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n',
  });
  writeFileSync(join(project, 'pack.zip'), pack);
  const image = await sharp({ create: { width: 64, height: 64, channels: 3, background: '#a86' } })
    .png()
    .toBuffer();
  writeFileSync(join(project, 'image.png'), image);
  const env = { ...process.env, SERVICE: service.url, TOKEN: service.ownerToken };
  expect(await runProgram(process.execPath, ['program.js'], { cwd: project, env })).toEqual({
    exit: 0,
    stdout: 'NodeVersionStatusActive COMPLETED not_found\n',
    stderr: '',
  });
});

/** Publishes a pack and relights an image, as anyone would with a generated client. */
const PROGRAM = `
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import createClient from 'openapi-fetch';
import type { paths } from './service.js';

const { SERVICE = '', TOKEN = '' } = process.env;
const client = createClient<paths>({ baseUrl: SERVICE, headers: { Authorization: \`Bearer \${TOKEN}\` } });

function need<Data>({ data, error }: { data?: Data; error?: unknown }): Data {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
}

need(await client.POST('/publishers', { body: { id: 'my-team', name: 'My team' } }));
const path = { publisherId: 'my-team' };
const { token } = need(
  await client.POST('/publishers/{publisherId}/tokens', { params: { path }, body: { name: 'ci' } }),
);
const { signedUrl } = need(
  await client.POST('/publishers/{publisherId}/nodes/{nodeId}/versions', {
    params: { path: { ...path, nodeId: 'hello' } },
    body: { node: { id: 'hello' }, node_version: { version: '1.0.0' }, personal_access_token: token },
  }),
);
const body = readFileSync('pack.zip');
const uploaded = await fetch(signedUrl, { method: 'PUT', headers: { 'content-type': 'application/zip' }, body });
if (!uploaded.ok) throw new Error(await uploaded.text());

let version;
do {
  await pause(50);
  version = need(
    await client.GET('/nodes/{nodeId}/versions/{version}', {
      params: { path: { nodeId: 'hello', version: '1.0.0' } },
    }),
  );
} while (version.status === 'NodeVersionStatusPending');

const image = readFileSync('image.png').toString('base64');
const relight = '/proxy/imagevendor/v1/ai/image-relight';
const { task_id } = need(await client.POST(relight, { body: { image, style: 'clean' } })).data;
let task;
do {
  await pause(50);
  task = need(await client.GET(\`\${relight}/{task_id}\`, { params: { path: { task_id } } })).data;
} while (task.status !== 'COMPLETED' && task.status !== 'FAILED');

const missing = await client.GET('/nodes/{nodeId}', { params: { path: { nodeId: 'missing' } } });
console.log(version.status, task.status, missing.error?.error);
`;
