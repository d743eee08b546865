import { getOutline, isValidRequest, listQueryNames, type OperationOutline } from '../../client/outlines.js';
import { getItems, pages } from '../../client/pages.js';
import type { OperationName } from '../../contract/index.js';
import type { Request } from '../command/build-request.js';
import type { ArgumentValues, Command } from '../command/command.js';
import type { CommandContext } from './context.js';

/**
 * Checks a request. The contract is loaded only to say what is wrong.
 * @throws Failure with all problems, with the names of flags and arguments
 */
export async function requireValid(
  name: OperationName,
  command: Command,
  request: Request,
  bodyGiven: boolean,
  args: ArgumentValues = {},
): Promise<void> {
  const outline = getOutline(name);
  const body = outline.body ? (request.body ?? {}) : undefined;
  if (isValidRequest(outline, { ...request, body })) return;
  const [{ checkRequest }, { getOperation }] = await loadChecks();
  checkRequest(getOperation(name), command, request, bodyGiven, args);
}

/** Loads what checks with the schemas of the contract. */
export function loadChecks() {
  return Promise.all([import('../command/request.js'), import('../../contract/index.js')]);
}

/** Sends a request and prints its response, or with `--all` the responses for all pages. */
export async function callOperation(
  context: CommandContext,
  name: OperationName,
  request: Request,
): Promise<void> {
  const { output, flags, command, signal } = context;
  const outline = getOutline(name);
  const { client } = await context.services.reach();
  const send = async (query: Request['query']) => {
    const input = { ...request.params, ...query, ...(outline.body && { body: request.body ?? {} }) };
    return (await client.requestNamed(name, input, { signal })).data as object;
  };
  if (!flags.all) {
    const answer = await send(request.query);
    await output.answer(answer ?? (outline.response ? {} : undefined), command.shape);
    return sayMore(context, answer);
  }
  const read = (page: number) => send({ ...chooseLargestPages(outline), ...request.query, page });
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

function chooseLargestPages(outline: OperationOutline): Record<string, number> {
  return listQueryNames(outline).includes('pageSize') ? { pageSize: 100 } : { limit: 100 };
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
