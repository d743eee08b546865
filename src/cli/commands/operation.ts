import { getItems, pages } from '../../client/pages.js';
import { getOperation } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import { readBodyFlag } from '../command/body.js';
import { confirmCommand } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import { buildRequest, checkRequest, listIgnoredFields, type Request } from '../command/request.js';
import { usage } from '../terminal/failure.js';
import type { CommandContext } from './context.js';

/** Runs the operation of a command. */
export async function run(context: CommandContext): Promise<void> {
  const { command, args, flags, output } = context;
  const operation = getOperation(command.operation as string);
  const body = await readBodyFlag(context);
  const request = buildRequest(command, args, flags, body);
  checkRequest(operation, command, request, body !== undefined, args);
  for (const name of listIgnoredFields(operation, body)) {
    await output.warn(`The service does not accept '${name}'; it is ignored.`);
  }
  if (operation.method === 'PUT' && Object.keys(request.body ?? {}).length === 0) {
    throw usage('No changes given.', `See the flags: regen ${command.words.join(' ')} --help`);
  }
  if (flags['dry-run']) return printDryRun(context, operation, request);
  await confirmCommand(context);
  await callOperation(context, operation, request);
  if (command.changes) await context.services.announce();
}

/** Sends a request and prints its response, or with `--all` the responses for all pages. */
export async function callOperation(
  context: CommandContext,
  operation: Operation,
  request: Request,
): Promise<void> {
  const { output, flags, command, signal } = context;
  const { client } = await context.services.reach();
  const send = async (query: Request['query']) => {
    const input = { ...request.params, ...query, ...(operation.body && { body: request.body ?? {} }) };
    return (await client.request(operation, input as never, { signal })).data as object;
  };
  if (!flags.all) {
    const answer = await send(request.query);
    await output.answer(answer ?? (operation.status === 204 ? undefined : {}), command.shape);
    return sayMore(context, answer);
  }
  const read = (page: number) => send({ ...largestPages(operation), ...request.query, page });
  const first = typeof request.query.page === 'number' ? request.query.page : 1;
  if (output.mode.ndjson) {
    for await (const page of pages(read, first)) await output.items(getItems(page) as unknown[]);
    return;
  }
  const all: object[] = [];
  for await (const page of pages(read, first)) all.push(page);
  await output.answer(mergePages(all), command.shape);
}

async function sayMore({ output }: CommandContext, answer: object | undefined): Promise<void> {
  const { page, totalPages } = (answer ?? {}) as { page?: number; totalPages?: number };
  if (page !== undefined && totalPages !== undefined && page < totalPages) {
    await output.note(`Page ${page} of ${totalPages}. Pass --all for every page.`);
  }
}

function largestPages(operation: Operation): Record<string, number> {
  return operation.query && 'pageSize' in operation.query.shape ? { pageSize: 100 } : { limit: 100 };
}

/** Merges pages into the shape of one page that has all items. */
function mergePages(all: readonly object[]): object {
  const items = all.flatMap((page) => getItems(page) as unknown[]);
  const entries = Object.entries(all[0] ?? {}).map(([name, value]) => {
    if (Array.isArray(value)) return [name, items];
    if (name === 'totalPages' || name === 'totalNumberOfPages') return [name, items.length > 0 ? 1 : 0];
    if (name === 'limit') return [name, items.length];
    return [name, value];
  });
  return Object.fromEntries(entries);
}
