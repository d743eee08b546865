import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contract, getOperation, type OperationName } from '../../src/contract/index.js';
import { listOperations } from '../../src/contract/operation.js';
import { type AsCaller, createCallers, createInvalidCredentials } from '../support/callers.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createFilmingEngine } from '../support/filming-engine.js';
import { startIssuer, type TestIssuer } from '../support/issuer.js';
import { type Registry, startRegistry } from '../support/registry.js';
import { ask } from '../support/service.js';
import {
  buildRequest,
  createStage,
  listTrials,
  type Stage,
  startTasks,
  type Trial,
} from '../support/trials.js';

// Every operation with every kind of caller. After an intended change: UPDATE_MATRIX=1 npx vitest run
// test/service/matrix.test.ts
const golden = new URL('../golden/matrix.txt', import.meta.url);
const names = Array.from(listOperations(contract), ([name]) => name as OperationName);
const EVERY_INVALID = 'every invalid credential';

let issuer: TestIssuer;
let registry: Registry;
let tasks: Stage['tasks'];
let callers: Readonly<Record<string, AsCaller>>;
let invalid: Readonly<Record<string, string>>;
/** The last stage; undefined once a request has changed it. */
let stage: Promise<Stage> | undefined;
const written = new Map<string, string>();

beforeAll(async () => {
  issuer = await startIssuer();
  const engines = { image: createCopyingEngine(), video: createFilmingEngine() };
  registry = await startRegistry(
    {
      issuers: [{ issuer: issuer.url }],
      publish: { issuers: [{ kind: 'github', issuer: issuer.url, audience: 'ci' }] },
      quotas: { publishers: 1_000, invitationsPerDay: 10_000 },
    },
    { engines },
  );
  callers = await createCallers(registry, issuer);
  invalid = await createInvalidCredentials(registry, issuer);
  tasks = await startTasks(registry);
});

afterAll(async () => {
  if (process.env.UPDATE_MATRIX) writeTable();
  await registry.service.stop();
  await issuer.stop();
});

it('lists every invalid credential and every operation in the golden table, and nothing else', () => {
  const listed = [EVERY_INVALID, ...Object.keys(invalid).map((name) => `  ${name}`)].join('\n');
  written.set(EVERY_INVALID, listed);
  if (!process.env.UPDATE_MATRIX) {
    expect(readBlocks().get(EVERY_INVALID)).toBe(listed);
    const titles = [EVERY_INVALID, ...names.flatMap(listTitles)].sort();
    expect([...readBlocks().keys()].sort(), 'Run this file with UPDATE_MATRIX=1.').toEqual(titles);
  }
});

describe('answers every kind of caller as the golden table says', () => {
  it.each(names)('%s', async (name) => {
    for (const trial of listTrials(name)) {
      const title = toTitle(name, trial);
      const block = formatBlock(title, await tryOut(name, trial));
      written.set(title, block);
      if (!process.env.UPDATE_MATRIX) expect(block).toBe(readBlocks().get(title));
    }
  });
});

/** What each caller is answered: `200`, `401 unauthenticated`. */
async function tryOut(name: OperationName, trial: Trial): Promise<Map<string, string>> {
  const { method, path } = getOperation(name);
  const answers = new Map<string, string>();
  const send = async (toToken: AsCaller['token']) => {
    const current = await getStage();
    const { params, query, body } = buildRequest(name, trial, current);
    const target = path.replace(/\{(\w+)\}/g, (_, param: string) =>
      encodeURIComponent(params[param] as string),
    );
    const token = toToken(current);
    const answer = await ask(registry.url + target + query, { method, token, json: body });
    return answer.status < 300 ? `${answer.status}` : `${answer.status} ${answer.body.error}`;
  };
  // They are all answered alike, or each would need a line of its own.
  const refusals = new Set(await Promise.all(Object.values(invalid).map((token) => send(() => token))));
  answers.set(EVERY_INVALID, [...refusals].join(' or '));
  for (const [caller, { token, before }] of Object.entries(callers)) {
    await before?.(await getStage());
    const answer = await send(token);
    answers.set(caller, answer);
    // A request that succeeded may have changed what the next caller is tried on.
    if (method !== 'GET' && path.includes('{') && answer.startsWith('2')) await leaveStage();
  }
  await liftBan();
  return answers;
}

function getStage(): Promise<Stage> {
  stage ??= createStage(registry, tasks, issuer);
  return stage;
}

/** Has the next caller tried on a new stage. A publisher left banned would keep its owner from starting one. */
async function leaveStage(): Promise<void> {
  await liftBan();
  stage = undefined;
}

/** Restores the stage after it was a banned publisher's. */
async function liftBan(): Promise<void> {
  if (!stage) return;
  const { publisher } = await stage;
  await registry.ok('admin', 'PUT', `/admin/publishers/${publisher}`, { status: 'PublisherStatusActive' });
}

/** One line for each answer, with all callers who get it. */
function formatBlock(title: string, answers: ReadonlyMap<string, string>): string {
  const kinds = [...new Set(answers.values())].sort();
  const width = Math.max(...kinds.map(({ length }) => length));
  const listCallers = (kind: string) =>
    [...answers].filter(([, answer]) => answer === kind).map(([caller]) => caller);
  return [title, ...kinds.map((kind) => `  ${kind.padEnd(width)}  ${listCallers(kind).join(', ')}`)].join(
    '\n',
  );
}

function toTitle(name: OperationName, { on }: Trial): string {
  return on ? `${name}, ${on}` : name;
}

function listTitles(name: OperationName): string[] {
  return listTrials(name).map((trial) => toTitle(name, trial));
}

/** The blocks of the golden table by their titles. */
function readBlocks(): Map<string, string> {
  const blocks = readFileSync(golden, 'utf8').trimEnd().split('\n\n');
  return new Map(blocks.map((block) => [block.split('\n')[0] as string, block]));
}

/** Writes the table in the order of the contract; operations that did not run keep their block. */
function writeTable(): void {
  const blocks = new Map([...readBlocks(), ...written]);
  const titles = [EVERY_INVALID, ...names.flatMap(listTitles)];
  const table = titles.map((title) => blocks.get(title)).filter((block) => block !== undefined);
  writeFileSync(golden, `${table.join('\n\n')}\n`);
}
