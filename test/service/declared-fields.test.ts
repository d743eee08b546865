import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { contract, getOperation, type OperationName } from '../../src/contract/index.js';
import { listOperations } from '../../src/contract/operation.js';
import { authenticate } from '../../src/service/http/authenticate.js';
import { handlers } from '../../src/service/http/handlers.js';
import type { Handler, OperationCall } from '../../src/service/operation/call.js';
import { createQueryReader, requireValid } from '../../src/service/operation/validation.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createFilmingEngine } from '../support/filming-engine.js';
import { startIssuer } from '../support/issuer.js';
import { observeReads } from '../support/observe-reads.js';
import { registryForFile } from '../support/registry.js';
import {
  buildRequest,
  createStage,
  listTrials,
  type Stage,
  startTasks,
  type Trial,
} from '../support/trials.js';

const engines = { image: createCopyingEngine(), video: createFilmingEngine() };
const issuer = await startIssuer();
afterAll(() => issuer.stop());
const registry = registryForFile(
  {
    issuers: [{ issuer: 'https://issuer.example.org' }],
    publish: { issuers: [{ kind: 'github', issuer: issuer.url, audience: 'ci' }] },
  },
  { engines },
);
let stage: Stage;

beforeAll(async () => {
  stage = await createStage(registry(), await startTasks(registry()), issuer);
  const { database } = registry().service.context;
  const versions = await database.selectFrom('versions').select('id').execute();
  const readmes = versions.map(({ id }) => ({ version_id: id, text: '# Read me' }));
  await database.transaction().execute((tx) => tx.insertInto('readmes').values(readmes).execute());
});

/**
 * Fields that an operation declares and ignores, with the reason. Fields that the contract marks as read-only
 * are no exceptions: it says itself that they are ignored in requests.
 */
const exceptions: { readonly [Name in OperationName]?: Readonly<Record<string, string>> } = {};

describe('reads every path parameter, query parameter and body field that it declares', () => {
  it.each(Array.from(listOperations(contract), ([name]) => name as OperationName))('%s', async (name) => {
    const [trial] = listTrials(name) as [Trial];
    const unread = await runObserved(name, trial);
    expect(unread, `${name} accepts these fields and ignores them`).toEqual(
      Object.keys(exceptions[name] ?? {}),
    );
  });
});

/** Runs a handler on an observed request, and undoes what it wrote. @returns the fields it did not read */
async function runObserved(name: OperationName, trial: Trial): Promise<string[]> {
  const { who, params, query, body } = getOperation(name);
  const { service, tokens } = registry();
  const { context } = service;
  const request = buildRequest(name, trial, stage);
  const searched = Object.fromEntries(new URLSearchParams(request.query));
  const observed = {
    params: observeReads(params, request.params),
    query: query && observeReads(query, createQueryReader(query)(searched)),
    body: body && observeReads(body, requireValid(body, request.body, 'body')),
  };
  const token = who.startsWith('admin') ? tokens.admin : tokens.ann;
  const call = {
    params: observed.params.value,
    query: observed.query?.value,
    body: observed.body?.value,
    caller: await authenticate(context, `Bearer ${token}`),
    address: '127.0.0.1',
    context,
    signal: new AbortController().signal,
    actions: [],
  } as unknown as OperationCall<OperationName>;
  await runHandler(handlers[name] as Handler<OperationName>, call);
  return Object.entries(observed).flatMap(([part, fields]) =>
    (fields?.listUnread() ?? []).map((path) => `${part}: ${path}`),
  );
}

class Undo extends Error {}

async function runHandler(
  handler: Handler<OperationName>,
  call: OperationCall<OperationName>,
): Promise<void> {
  const { database } = call.context;
  if ('read' in handler) return void (await handler.read(call, database));
  const prepared = 'prepare' in handler ? await handler.prepare(call) : undefined;
  const undone = database.transaction().execute(async (tx) => {
    await ('write' in handler ? handler.write(call, tx) : prepared?.write(tx));
    throw new Undo();
  });
  await undone.catch((error) => {
    if (!(error instanceof Undo)) throw error;
  });
  await prepared?.undo();
}

describe('a request whose reads are observed', () => {
  const schema = z.object({
    name: z.string(),
    size: z.object({ width: z.number(), height: z.number() }).optional(),
    items: z.array(z.object({ id: z.string(), note: z.string().optional() })),
    created: z.string().meta({ readOnly: true }),
  });
  const request = { name: 'a', size: { width: 1, height: 2 }, items: [{ id: 'x' }], created: 'now' };

  it('names what was not read, also inside of objects and lists, but no read-only field', () => {
    const { value, listUnread } = observeReads(schema, request);
    expect(listUnread()).toEqual([
      'name',
      'size',
      'size.width',
      'size.height',
      'items',
      'items.id',
      'items.note',
    ]);
    expect([value.name, value.size?.width, value.items.map(({ id }) => id)]).toEqual(['a', 1, ['x']]);
    expect(listUnread()).toEqual(['size.height', 'items.note']);
  });

  it('counts a field as read even if the request does not have it', () => {
    const { value, listUnread } = observeReads(z.object({ page: z.number().optional() }), {});
    expect((value as { page?: number }).page).toBeUndefined();
    expect(listUnread()).toEqual([]);
  });

  it('counts every field as read if all are copied', () => {
    const whole = observeReads(schema, request);
    expect(JSON.parse(JSON.stringify(whole.value))).toEqual(request);
    expect(whole.listUnread()).toEqual([]);
    const shallow = observeReads(schema, request);
    expect(Object.keys({ ...shallow.value })).toHaveLength(4);
    expect(shallow.listUnread()).toEqual(['size.width', 'size.height', 'items.id', 'items.note']);
  });
});
