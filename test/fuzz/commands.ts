import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { Command } from '../../src/cli/command/command.js';
import { commandTree } from '../../src/cli/command-tree.js';
import { exitCodes } from '../../src/cli/terminal/failure.js';
import { contract } from '../../src/contract/index.js';
import { listOperations } from '../../src/contract/operation.js';
import { type Ran, regen } from '../support/cli.js';
import { pixel } from '../support/generation.js';
import { listenOn } from '../support/listen.js';
import { anyJson, createValues, document, mutateJson } from './schema-values.js';
import { mutateBytes, type Target } from './target.js';

const { commands, globals } = commandTree();
/** What waits for a person, a signal or another program, or starts one. */
const WAITING = ['serve', 'webhook listen', 'admin exec', 'auth login'];
const runnable = commands.filter(({ words }) => !WAITING.includes(words.join(' ')));

const values = fc.oneof(
  fc.constantFrom(
    '',
    '-',
    '--',
    '-1',
    '0',
    '1e999',
    'NaN',
    'pack',
    'acme',
    'photo.png',
    'missing.png',
    '.',
    '..',
  ),
  fc.constantFrom(
    '@photo.png',
    '@-',
    'a=b',
    '1.0.0',
    '10s',
    '-5m',
    'é\u202e',
    '\u001b[2J',
    'x'.repeat(10_000),
    '{"a":1}',
    '[',
  ),
  fc.string({ maxLength: 30 }).filter((text) => !/[/\\\0]/.test(text)),
);

/** A command line with flags that the command has, and some that it has not. */
const commandLines = fc
  .constantFrom(...runnable)
  .chain((command) => fc.tuple(fc.constant(command.words), fc.array(createWord(command), { maxLength: 8 })))
  .map(([words, given]) => [...words, ...given.flat()]);

function createWord({ flags, arguments: positionals }: Command): fc.Arbitrary<string[]> {
  const flag = fc.constantFrom(...flags, ...globals).chain(({ name, value, choices }) => {
    if (value === undefined) return fc.constantFrom<string[]>([`--${name}`], [`--no-${name}`]);
    const given = fc.oneof(values, ...(choices?.length ? [fc.constantFrom(...choices)] : []));
    return fc
      .tuple(given, fc.boolean())
      .map(([text, joined]) => (joined ? [`--${name}=${text}`] : [`--${name}`, text]));
  });
  const positional = values.map((text) => [text]);
  const odd = fc.constantFrom<string[]>(['--nope'], ['-Z'], ['--help'], ['--json'], ['--dry-run'], ['--yes']);
  return fc.oneof(
    { weight: 4, arbitrary: flag },
    { weight: positionals.length, arbitrary: positional },
    { weight: 1, arbitrary: odd },
  );
}

/** A folder with what commands read, and a terminal that answers nothing. */
function createSurroundings(url: string) {
  const root = mkdtempSync(join(tmpdir(), 'regen-fuzz-'));
  let folders = 0;
  const run = async (argv: readonly string[]): Promise<Ran> => {
    const home = join(root, String(++folders), 'home');
    const cwd = join(home, 'work', 'here');
    mkdirSync(cwd, { recursive: true });
    writeFileSync(join(cwd, 'photo.png'), Buffer.from(pixel, 'base64'));
    const env = { REGEN_BASE_URL: url, REGEN_TOKEN: 'token', REGEN_TIMEOUT: '5' };
    const ran = await regen(argv, { home, cwd, env });
    rmSync(join(root, String(folders)), { recursive: true });
    return ran;
  };
  return { run, remove: () => rmSync(root, { recursive: true, force: true }) };
}

/** An unexpected failure is a bug, for any arguments and any answers of a service. */
const allowed = new Set<number>(Object.values(exitCodes).filter((code) => code !== exitCodes.unexpected));

function checkRan({ exit, stdout, stderr }: Ran): void {
  const shown = `exit ${exit}\nstdout: ${stdout.slice(0, 500)}\nstderr: ${stderr.slice(0, 1500)}`;
  if (!allowed.has(exit)) throw new Error(`The exit code is wrong: ${shown}`);
  if (/Unexpected failure:|^\s+at .*(\.[jt]s|node:)/m.test(stdout + stderr))
    throw new Error(`A bug: ${shown}`);
  if (exit !== 0 && !/\S/.test(stdout + stderr)) throw new Error(`Nothing was said: ${shown}`);
}

/** Counts exit codes. */
function countExits() {
  const exits = new Map<number, number>();
  return {
    add: (exit: number) => exits.set(exit, (exits.get(exit) ?? 0) + 1),
    summary: () =>
      `exit codes: ${[...exits]
        .sort(([one], [other]) => one - other)
        .map((pair) => pair.join(': '))
        .join(', ')}`,
  };
}

/** Command lines with a service that knows nothing: they end with a documented exit code and a sentence. */
export async function createArguments(): Promise<Target<string[]>> {
  const error = JSON.stringify({ error: 'not_found', message: 'It does not exist.' });
  const server = await listenOn((asked, answer) => {
    asked.resume();
    answer.writeHead(404, { 'content-type': 'application/json' }).end(error);
  });
  const surroundings = createSurroundings(server.url);
  const exits = countExits();
  const run = async (argv: string[]) => {
    const ran = await surroundings.run(argv);
    exits.add(ran.exit);
    checkRan(ran);
    // What `doctor` and `webhook verify` find wrong, and what became of each of several tasks, is their answer.
    if (
      ran.exit === exitCodes.usage &&
      ran.stdout !== '' &&
      !['doctor', 'webhook'].includes(argv[0] as string) &&
      !ran.stdout.startsWith('[')
    ) {
      throw new Error(`Wrong usage wrote to stdout: ${ran.stdout.slice(0, 500)}`);
    }
  };
  const close = async () => {
    surroundings.remove();
    await server.close();
  };
  return { cases: commandLines, run, summary: exits.summary, close };
}

/** An answer of a service that is broken, or means harm. */
interface HostileAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** What becomes of the connection. */
  readonly end: 'whole' | 'cut' | 'reset';
}

const REQUESTS: Readonly<Record<string, string>> = Object.fromEntries([
  ['node get pack', 'node.get'],
  ['node list acme', 'node.list'],
  ['node search x', 'node.search'],
  ['version list pack', 'version.list'],
  ['version get pack 1.0.0', 'version.get'],
  ['version bulk a@1.0.0', 'version.bulk'],
  ['version download pack 1.0.0', 'node.install'],
  ['publisher list', 'publisher.list'],
  ['publisher create acme --name A', 'publisher.create'],
  ['auth status', 'user.me'],
  ['host-nodes list pack 1.0.0', 'hostNodes.list'],
  ['image relight photo.png --timeout 1s', 'image.relight'],
  ['video text2video boat --timeout 1s', 'video.text2video'],
  ['image status some-task', 'image.relightStatus'],
  ['video status some-task', 'video.creations'],
  ['webhook secret', 'webhook.secret'],
  ['api GET /nodes', 'node.search'],
  ['doctor', 'service.protectedResource'],
  ['admin audit', 'admin.audit'],
]);

const responses = new Map(
  Array.from(listOperations(contract), ([name, { method, path, status = 200 }]) => [
    name,
    document.paths[path][method.toLowerCase()].responses[status]?.content?.['application/json']?.schema,
  ]),
);

function createAnswers(operation: string): fc.Arbitrary<HostileAnswer> {
  const schema = responses.get(operation);
  const sound = schema ? createValues(schema) : anyJson;
  const error = createValues(document.components.schemas.Error);
  const json = fc
    .oneof(sound, mutateJson(sound), error, mutateJson(error), anyJson)
    .map((value) => JSON.stringify(value) ?? '');
  const text = fc.constantFrom(
    '',
    '{',
    '<html>',
    'null',
    '[]',
    '{}',
    '['.repeat(100_000),
    `{"a":${'{"a":'.repeat(5000)}`,
    '"\\ud800"',
    '\ufeff{}',
    '1e999',
  );
  const body = fc
    .oneof({ weight: 3, arbitrary: json }, { weight: 1, arbitrary: text })
    .map((one) => Buffer.from(one));
  return fc.record({
    status: fc.constantFrom(
      ...Array(20).fill(200),
      201,
      204,
      206,
      301,
      302,
      304,
      307,
      400,
      401,
      403,
      404,
      409,
      418,
      429,
      500,
      502,
      503,
      599,
    ),
    headers: fc.oneof(fc.constant({ 'content-type': 'application/json' }), createOddHeaders()),
    body: fc.oneof({ weight: 4, arbitrary: body }, { weight: 1, arbitrary: mutateBytes(body) }),
    end: fc.constantFrom('whole', 'whole', 'whole', 'whole', 'cut', 'reset'),
  });
}

const createOddHeaders = () =>
  fc.record(
    {
      'content-type': fc.constantFrom('application/json', 'application/json', 'text/html', 'image/png', ''),
      'content-length': fc.constantFrom('0', '1', '99999999', '-1', 'x'),
      'content-encoding': fc.constantFrom('gzip', 'br', 'identity', 'x'),
      location: fc.constantFrom('/', '/nodes', 'http://127.0.0.1:9/', 'file:///etc/passwd', ':', ''),
      'retry-after': fc.constantFrom(
        '0',
        '1',
        '-1',
        '999999999999',
        'Wed, 21 Oct 2099 07:28:00 GMT',
        'x',
        '',
      ),
      'www-authenticate': fc.constantFrom('Bearer', 'Bearer resource_metadata="x"', '"', ''),
      'x-request-id': fc.constantFrom('a', '\u0085', 'x'.repeat(5000)),
      'content-disposition': fc.constantFrom('attachment; filename="../../x"', 'x'),
      digest: fc.constantFrom('sha-256=x', ''),
    },
    { requiredKeys: [] },
  );

interface Exchange {
  readonly argv: readonly string[];
  readonly answers: readonly HostileAnswer[];
}

/** Answers that no service should give: the command ends with a documented exit code and a sentence. */
export async function createHostileAnswers(): Promise<Target<Exchange>> {
  const exchanges = fc.constantFrom(...Object.entries(REQUESTS)).chain(([line, operation]) =>
    fc.record({
      argv: fc.constantFrom([], ['--json']).map((more) => [...line.split(' '), ...more]),
      answers: fc.array(createAnswers(operation), { minLength: 1, maxLength: 4 }),
    }),
  );
  let queue: HostileAnswer[] = [];
  const server = await listenOn((asked, answer) => {
    asked.resume();
    // The last one stays.
    giveAnswer(answer, (queue.length > 1 ? queue.shift() : queue[0]) as HostileAnswer);
  });
  const surroundings = createSurroundings(server.url);
  const exits = countExits();
  const run = async ({ argv, answers }: Exchange) => {
    queue = [...answers];
    const ran = await surroundings.run(argv);
    exits.add(ran.exit);
    checkRan(ran);
  };
  const close = async () => {
    surroundings.remove();
    await server.close();
  };
  return { cases: exchanges, run, summary: exits.summary, close };
}

/** Writes the bytes themselves, because Node would not send what is wrong. */
function giveAnswer({ socket }: ServerResponse, { status, headers, body, end }: HostileAnswer): void {
  const lines = Object.entries({ 'content-length': String(body.length), ...headers, connection: 'close' });
  const head = `HTTP/1.1 ${status} Some\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
  if (end === 'reset') return void socket?.resetAndDestroy();
  socket?.write(head, 'latin1');
  socket?.end(end === 'cut' ? body.subarray(0, body.length / 2) : body);
}
