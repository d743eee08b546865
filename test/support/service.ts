import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { type RunningService, type ServiceParts, startService } from '../../src/service/serve.js';
import { checkAnswer } from './check-answer.js';
import { createZip } from './create-zip.js';
import { databaseForFolder } from './postgres.js';
import { storageForFolder } from './s3.js';
import { waitFor } from './wait-for.js';

/** Starts a whole service on a free port of loopback, on the database that the tests run with. */
export async function startTestService(
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  const database = await databaseForFolder(input.data);
  const storage = storageForFolder(input.data);
  return startService(
    { graceMs: 1_000, drainMs: 0, ...database, ...storage, ...input },
    { log: () => {}, ...parts },
  );
}

/** A whole service on a free port of loopback, stopped at the end of the test that asks for it. */
export async function serviceForTest(
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  const service = await startTestService(input, parts);
  onTestFinished(() => service.stop());
  return service;
}

/** An empty folder, removed at the end of the test that asks for it. */
export function folderForTest(): string {
  const folder = mkdtempSync(join(tmpdir(), 'regen-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

// biome-ignore lint/suspicious/noExplicitAny: what an answer holds is for the test to assert
export type Answered = any;

/**
 * One request to a service. The answer is held against the OpenAPI document; its body is read as JSON where
 * it is JSON.
 * @throws Error where the answer is not what the document says
 */
export async function ask(
  url: string,
  { token, json, ...init }: RequestInit & { token?: string | undefined; json?: unknown } = {},
): Promise<{ status: number; headers: Headers; body: Answered }> {
  const headers = new Headers(init.headers);
  if (token) headers.set('authorization', `Bearer ${token}`);
  if (json !== undefined) headers.set('content-type', 'application/json');
  const own = json === undefined ? {} : { body: JSON.stringify(json) };
  const answer = await fetch(url, { ...init, headers, ...own });
  const text = await answer.text();
  checkAnswer({
    method: init.method ?? 'GET',
    url: answer.url,
    status: answer.status,
    type: answer.headers.get('content-type'),
    text,
  });
  const isJson = answer.headers.get('content-type')?.includes('json') && text !== '';
  return { status: answer.status, headers: answer.headers, body: isJson ? JSON.parse(text) : text };
}

/** What `publisherForTest` made. */
export interface TestPublisher {
  readonly url: string;
  readonly ownerToken: string;
  readonly personalAccessToken: string;
}

/** The publisher `acme`, with a personal access token. */
export async function publisherForTest({
  url,
  ownerToken,
}: Pick<RunningService, 'url' | 'ownerToken'>): Promise<TestPublisher> {
  const post = { method: 'POST', token: ownerToken };
  await requireSuccess(ask(`${url}/publishers`, { ...post, json: { id: 'acme', name: 'Acme' } }));
  const { token } = await requireSuccess(
    ask(`${url}/publishers/acme/tokens`, { ...post, json: { name: 'test' } }),
  );
  return { url, ownerToken, personalAccessToken: token };
}

/** Registers a version of the node `pack` and gives the answer: `{ node_version, signedUrl }`. */
export function registerVersion(
  { url, ownerToken, personalAccessToken }: TestPublisher,
  version = '1.0.0',
): Promise<{ node_version: Answered; signedUrl: string }> {
  return requireSuccess(
    ask(`${url}/publishers/acme/nodes/pack/versions`, {
      method: 'POST',
      token: ownerToken,
      json: {
        node: { id: 'pack', name: 'Pack' },
        node_version: { version },
        personal_access_token: personalAccessToken,
      },
    }),
  );
}

/** Sends an archive to a signed URL. */
export function uploadArchive(
  signedUrl: string,
  body: Buffer,
  init: RequestInit = {},
): ReturnType<typeof ask> {
  return ask(signedUrl, {
    method: 'PUT',
    body: new Uint8Array(body),
    ...init,
    headers: { 'content-type': 'application/zip', ...init.headers },
  });
}

/** The version `pack` has under this number, as its owner sees it. */
export async function readVersion({ url, ownerToken }: TestPublisher, version = '1.0.0'): Promise<Answered> {
  return requireSuccess(
    ask(`${url}/nodes/pack/versions/${encodeURIComponent(version)}`, { token: ownerToken }),
  );
}

/** Publishes a version of `pack` with these files. @returns it, once it has its verdict */
export async function publishFiles(
  publisher: TestPublisher,
  version: string,
  files: Record<string, string>,
): Promise<Answered> {
  const { signedUrl } = await registerVersion(publisher, version);
  await uploadArchive(signedUrl, await createZip(files));
  return waitFor(async () => {
    const found = await readVersion(publisher, version);
    expect(found.status).not.toBe('NodeVersionStatusPending');
    return found;
  });
}

async function requireSuccess(answer: ReturnType<typeof ask>): Promise<Answered> {
  const { status, body } = await answer;
  if (status >= 300) throw new Error(`${status} ${JSON.stringify(body)}`);
  return body;
}
