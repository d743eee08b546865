import type { Client } from '../../client/client.js';
import { pages } from '../../client/pages.js';
import { parseJson } from '../../contract/json.js';
import { regen, say } from '../../contract/schema/message.js';
import { buildBody, buildQuery, parseFields } from '../api/fields.js';
import { readBody, showBody, showHead, showValue } from '../api/show.js';
import { readBodyText, readInput } from '../command/build-request.js';
import { printRequest } from '../command/dry-run.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import type { View } from '../views/view.js';
import { mergePages } from './operation.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output' | 'signal' | 'services'>;

export const view = (): View => ({
  usage: 'api [method] <path>',
  summary: 'Send any request with the current credential, and print the response unchanged',
  explain: {
    method: 'HTTP method (default: GET, or POST with fields or a body)',
    path: 'Path relative to the service address, such as /nodes',
  },
  changes: true,
  flags: {
    '-F, --field <key=value>': {
      description:
        'Add a field to the JSON body, or to the query for GET and with --body; numbers, true, false and null are converted, @file is read, key[sub] and key[] nest',
      repeat: true,
    },
    '-f, --raw-field <key=value>': { description: 'Add a field as text, without conversion', repeat: true },
    '--body <json|@file|->': 'Whole request body',
    '-H, --header <name: value>': { description: 'Add a request header', repeat: true },
    '--paginate': 'Read all pages of a list, and print them as one',
    '-i, --include': 'Print the status line and the headers before the body',
  },
  examples: [
    'regen api GET /nodes -F search=light',
    'regen api /nodes --paginate --jq ".nodes[].id"',
    "regen api PUT /publishers/my-team -f name='My Team'",
    'regen api POST /bulk/nodes/versions --body @pairs.json',
  ],
});

interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly query: Record<string, string[]>;
  readonly headers: Record<string, string>;
  readonly body: string | undefined;
}

export async function run(context: Context): Promise<void> {
  const { output, flags, signal, system } = context;
  const call = await readCall(context);
  context.services.isChanging = !['GET', 'HEAD'].includes(call.method);
  if (flags['dry-run']) return printRequest(context, { ...call, body: toReadable(call.body) });
  const { client } = await context.services.reach();
  if (flags.paginate) return showPages(context, call, client);
  const answer = await client.raw({ ...call, signal });
  if (flags.include) await showHead(output, answer);
  await showBody(output, answer, system.now());
  if (context.services.isChanging) await context.services.announce();
}

/** Prints the items of all pages as the service would on one page. */
async function showPages(context: Context, call: ApiCall, client: Client): Promise<void> {
  const { output, signal, system } = context;
  if (call.method !== 'GET') throw usage('--paginate reads pages, which only GET has.');
  const first = Number(call.query.page?.[0] ?? 1);
  const read = async (page: number) => {
    // A list without pages may refuse the parameter.
    const query = page === first ? call.query : { ...call.query, page: [String(page)] };
    const answer = await client.raw({ ...call, query, signal });
    return (await readBody(answer, system.now())) as object;
  };
  const all: object[] = [];
  for await (const page of pages(read, first)) all.push(page);
  await showValue(output, mergePages(all));
}

async function readCall(context: Context): Promise<ApiCall> {
  const { args, flags } = context;
  const [first, second] = [args.method, args.path] as (string | undefined)[];
  const path = second ?? first;
  if (path === undefined) throw usage('No path given.', say`Pass one, such as: ${regen('api', '/nodes')}`);
  refuseTwoReaders(context);
  const headers = parseHeaders(toList(flags.header));
  const body = await readBodyText(context, headers['content-type'] === undefined);
  const read = (file: string) => readInput(context.system, file);
  const fields = await parseFields(toList(flags.field), toList(flags['raw-field']), read);
  const method =
    second === undefined
      ? !flags.paginate && (body !== undefined || fields.length > 0)
        ? 'POST'
        : 'GET'
      : parseMethod(first);
  const inQuery = body !== undefined || method === 'GET' || method === 'HEAD';
  return {
    method,
    path,
    query: inQuery ? buildQuery(fields) : {},
    headers,
    body: inQuery || fields.length === 0 ? body : JSON.stringify(buildBody(fields)),
  };
}

// The second reader would silently get nothing.
function refuseTwoReaders({ flags }: Needs<'flags'>): void {
  const fields = toList(flags.field).filter((text) => text.endsWith('=@-'));
  const readers = [...fields, ...[flags.body, flags['token-file']].filter((value) => value === '-')];
  if (readers.length > 1) throw usage('Standard input can be read only once.', 'Pass the others as @file.');
}

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'];

function parseMethod(text = ''): string {
  if (METHODS.includes(text.toUpperCase())) return text.toUpperCase();
  throw usage(
    `Unknown HTTP method '${text}'.`,
    say`Write one of ${METHODS.join(', ')} first, such as: ${regen('api', 'PUT /publishers/my-team')}`,
  );
}

function toList(value: unknown): readonly string[] {
  return Array.isArray(value) ? value : [];
}

const SECRET_HEADERS = ['authorization', 'proxy-authorization', 'cookie'];

function parseHeaders(texts: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const text of texts) {
    const [, name, value = ''] = /^([!#$%&'*+.^_`|~\w-]+):([^\r\n]*)$/.exec(text) ?? [];
    if (!name) throw usage(`Invalid header '${text.split(':')[0]}'.`, "Write it as 'Name: value'.");
    if (SECRET_HEADERS.includes(name.toLowerCase())) {
      throw usage(
        `The value of ${name} would be visible to other users of this machine.`,
        'The stored token is sent automatically. Select another one with REGEN_TOKEN or --token-file.',
      );
    }
    headers[name.toLowerCase()] = value.trim();
  }
  return headers;
}

/** Parses JSON, so that secrets in it can be masked. */
function toReadable(body: string | undefined): unknown {
  return body === undefined ? undefined : parseJson(body, `${Buffer.byteLength(body)} bytes`);
}
