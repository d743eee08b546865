import { getOutline, isValidRequest, listQueryNames, type OperationOutline } from '../../client/outlines.js';
import { getItems, pages } from '../../client/pages.js';
import { listPathNames } from '../../client/url.js';
import type { OperationName } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import { LATEST } from '../../contract/schema/semantic-version.js';
import { buildRequest, type Request, readBodyFlag } from '../command/build-request.js';
import { type ParsedCommand, readText } from '../command/command.js';
import { confirmDestruction, reportDestruction, requireShow, requireYes } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import { saveSecret } from '../command/secret-file.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';
import { readField } from '../terminal/rows.js';
import { oneLine } from '../terminal/text.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'mayAsk'>;

export async function run(context: Context): Promise<void> {
  const { command } = context;
  const name = command.operation as OperationName;
  const { method } = getOutline(name);
  const body = await readBodyFlag(context);
  const { args, flags } = await completeValues(context, name, body);
  const format = await context.services.findFormat();
  const request = format.readRequest(getOutline(name), buildRequest(command, args, flags, body));
  const { implied } = command;
  const isImplied = implied !== undefined && request.params[implied] === undefined;
  const checked = isImplied ? { ...request, params: { ...request.params, [implied]: STAND_IN } } : request;
  const [what, other] = command.otherwise ?? [];
  const otherwise = other && say`${what}: ${regen(other)}`;
  await requireValid(name, { ...context, args, flags }, checked, body !== undefined).catch((error) => {
    const isBare =
      otherwise && error instanceof Failure && Object.values(args).every((one) => one === undefined);
    throw isBare ? new Failure(error.text, { ...error.facts, hint: otherwise }) : error;
  });
  if (body !== undefined) await warnOfIgnored(context, name, request.body);
  if (method === 'PUT' && Object.keys(request.body ?? {}).length === 0) {
    const flags = say`See the flags: ${regen(command.words.join(' '), '--help')}`;
    throw usage('No changes given.', otherwise ? say`${otherwise}. ${flags}` : flags);
  }
  requireYes(context, request.params);
  const file = command.secret ? readText(context.flags, 'output-file') : undefined;
  if (command.secret && !flags['dry-run'] && file === undefined)
    requireShow(context, 'token', 'Save it to a file with --output-file');
  const { nodeId } = request.params;
  if (command.words[0] === 'version' && !command.changes && typeof nodeId === 'string' && !flags['dry-run'])
    await context.services.readAsPublisher(nodeId);
  if (isImplied) request.params[implied] = await findPublisher(context, nodeId as string);
  await completeIds(context, request);
  if (flags['dry-run']) return printDryRun(context, getOutline(name), request);
  await confirmDestruction(context, request.params);
  await (file === undefined
    ? callOperation(context, name, request)
    : writeSecret(context, name, { request, file }));
  if (command.changes) await context.services.announce(reportDestruction(command, request.params));
}

/** Asks for required values, if the command can prompt. The contract is loaded only if a value may be missing. */
async function completeValues(context: Context, name: OperationName, body: unknown): Promise<ParsedCommand> {
  if (!context.mayAsk || body !== undefined) return context;
  if (isValid(name, buildRequest(context.command, context.args, context.flags))) return context;
  const [{ getOperation }, { askMissing }] = await Promise.all([
    import('../../contract/index.js'),
    import('../command/ask-missing.js'),
  ]);
  return askMissing(context, getOperation(name));
}

/** Stands for a value that is only found when the rest of the request is known to be valid. */
const STAND_IN = 'publisher';

async function findPublisher({ services, signal }: Context, nodeId: string): Promise<string> {
  const { client } = await services.reach();
  const { publisher } = await client.node.get({ nodeId }, { signal });
  return publisher?.id ?? '';
}

/** Completes positionals that are the beginning of an id. One that matches none is left to the service to refuse. */
async function completeIds(
  { command, services, signal }: Context,
  { params, query }: Request,
): Promise<void> {
  for (const name of ['version', 'versionId']) {
    if (params[name] !== LATEST) continue;
    const { resolveVersion } = await import('../../flows/publish/published.js');
    params[name] = await resolveVersion(await services.reach(), String(params.nodeId), LATEST, signal);
  }
  for (const [name, { operation, field, email, search }] of Object.entries(command.lookup ?? {})) {
    const part: Record<string, unknown> = name in params ? params : query;
    const typed = part[name];
    if (typeof typed !== 'string') continue;
    const isEmail = email !== undefined && typed.includes('@');
    if (!isEmail && !/^(msg_[0-9a-f-]{0,35}|[0-9a-f-]{4,35})$/.test(typed)) continue;
    const { client } = await services.reach();
    const asked = {
      ...keepTaken(operation, params),
      ...(search && (isEmail ? { [search]: typed, limit: 100 } : { limit: 100 })),
    };
    const { data } = await client.requestNamed(operation, asked, { signal });
    const isMeant = (item: unknown) =>
      isEmail
        ? String(readField(item, email)).toLowerCase() === typed.toLowerCase()
        : String(readField(item, field)).startsWith(typed);
    const found = (getItems(data as object) as unknown[]).filter(isMeant);
    const matching = [...new Set(found.map((item) => String(readField(item, field))))];
    if (matching.length > 1)
      throw usage(
        `${matching.length} ids ${isEmail ? 'have the email address' : 'begin with'} ${typed}.`,
        `Pass ${isEmail ? 'one of them' : 'more of it'}: ${matching.join(', ')}`,
      );
    if (isEmail && matching.length === 0)
      throw new Failure(`There is no user with the email address ${typed}.`, { code: 'not_found' });
    if (matching[0] !== undefined) part[name] = matching[0];
  }
}

/** The path parameters that a listing has, too, such as the publisher whose tokens it lists. */
function keepTaken(operation: OperationName, params: Record<string, unknown>): Record<string, unknown> {
  const names = listPathNames(getOutline(operation).path);
  return Object.fromEntries(Object.entries(params).filter(([name]) => names.includes(name)));
}

async function warnOfIgnored({ output }: Needs<'output'>, name: string, body: unknown): Promise<void> {
  const [{ listIgnoredFields }, { getOperation }] = await Promise.all([
    import('../command/request.js'),
    import('../../contract/index.js'),
  ]);
  for (const field of listIgnoredFields(getOperation(name), body)) {
    await output.warn(`The service does not accept '${field}'; it is ignored.`);
  }
}

/** Whether a request needs no check with the schemas of the contract. */
function isValid(name: OperationName, request: Request): boolean {
  const outline = getOutline(name);
  return isValidRequest(outline, { ...request, body: outline.body ? (request.body ?? {}) : undefined });
}

/**
 * Checks a request. The contract is loaded only to say what is wrong.
 * @throws Failure with all problems, with the names of flags and arguments
 */
export async function requireValid(
  name: OperationName,
  context: ParsedCommand & Needs<'services'>,
  request: Request,
  bodyGiven: boolean,
): Promise<void> {
  if (isValid(name, request)) return;
  const format = await context.services.findFormat();
  const [{ findRequestProblems, toInvalidFailure }, { open }] = await Promise.all([
    import('../command/request.js'),
    format.declare(name),
  ]);
  const problems = findRequestProblems(open, context, request, { bodyGiven });
  if (problems.length > 0) throw toInvalidFailure(problems);
}

/** Sends a request that creates a secret, writes that to a file, and prints the rest of the response. */
async function writeSecret(
  context: Context,
  name: OperationName,
  { request: { params, query, body = {} }, file }: { readonly request: Request; readonly file: string },
): Promise<void> {
  const { command, services, signal, output } = context;
  const secret = command.shape?.only ?? '';
  let answer: Record<string, unknown> = {};
  const path = await saveSecret(context, { file, name: secret }, async () => {
    const { client } = await services.reach();
    const { data } = await client.requestNamed(name, { ...params, ...query, body }, { signal });
    answer = data as typeof answer;
    return oneLine(String(answer[secret]));
  });
  const { [secret]: _, ...others } = answer;
  await output.answer({ path, ...others }, { only: 'path' });
}

/** Sends a request and prints its response, or with `--all` the responses for all pages. */
export async function callOperation(
  context: Needs<'command' | 'flags' | 'output' | 'signal' | 'services'>,
  name: OperationName,
  request: Request,
): Promise<void> {
  const { output, flags, signal } = context;
  const outline = getOutline(name);
  const shape = (await context.services.findFormat()).writeFields(context.command.shape ?? {});
  const { client } = await context.services.reach();
  const reasons = new Set<string | undefined>();
  const send = async (query: Request['query']) => {
    const input = { ...request.params, ...query, ...(outline.body && { body: request.body ?? {} }) };
    const answer = (await client.requestNamed(name, input, { signal })).body as object;
    const { incomplete_reason: reason } = (answer ?? {}) as { readonly incomplete_reason?: string };
    if (reason !== undefined && !reasons.has(reason)) await output.warn(reason);
    reasons.add(reason);
    return answer;
  };
  if (!flags.all) {
    const answer = await send(request.query);
    if (flags.csv) return output.csv(answer, shape);
    await output.answer(answer ?? (outline.response ? {} : undefined), shape);
    return notePaging(context, answer);
  }
  const read = (page: number) => send({ ...chooseLargestPages(outline), ...request.query, page });
  const first = typeof request.query.page === 'number' ? request.query.page : 1;
  if (output.mode.ndjson) {
    for await (const page of pages(read, first)) await output.items(getItems(page) as unknown[]);
    return;
  }
  const all: object[] = [];
  for await (const page of pages(read, first)) all.push(page);
  await output.answer(mergePages(all), shape);
}

async function notePaging({ output }: Needs<'output'>, answer: object | undefined): Promise<void> {
  const { page, totalPages } = (answer ?? {}) as { page?: number; totalPages?: number };
  if (page !== undefined && totalPages !== undefined && page < totalPages) {
    await output.note(`Page ${page} of ${totalPages}. Pass --all for every page.`);
  }
}

function chooseLargestPages(outline: OperationOutline): Record<string, number> {
  return listQueryNames(outline).includes('pageSize') ? { pageSize: 100 } : { limit: 100 };
}

/** Merges pages into the shape of one page that has all items. */
export function mergePages(all: readonly object[]): object {
  const items = all.flatMap((page) => getItems(page) as unknown[]);
  if (Array.isArray(all[0])) return items;
  const entries = Object.entries(all[0] ?? {}).map(([name, value]) => {
    if (Array.isArray(value)) return [name, items];
    if (name === 'totalPages' || name === 'totalNumberOfPages') return [name, items.length > 0 ? 1 : 0];
    if (name === 'limit') return [name, items.length];
    return [name, value];
  });
  return Object.fromEntries(entries);
}
