import {
  getOutline,
  isValidRequest,
  listQueryNames,
  type OperationOutline,
  renameAnswer,
} from '../../client/outlines.js';
import { getItems, pages } from '../../client/pages.js';
import type { OperationName } from '../../contract/index.js';
import type { Naming } from '../../contract/naming/naming.js';
import type { Request } from '../command/build-request.js';
import type { ParsedCommand } from '../command/command.js';
import type { CommandContext } from '../connect/context.js';
import type { Shape } from '../terminal/output.js';

/** Whether a request needs no check with the schemas of the contract. */
export function isValid(name: OperationName, request: Request): boolean {
  const outline = getOutline(name);
  return isValidRequest(outline, { ...request, body: outline.body ? (request.body ?? {}) : undefined });
}

/**
 * Checks a request. The contract is loaded only to say what is wrong.
 * @throws Failure with all problems, with the names of flags and arguments
 */
export async function requireValid(
  name: OperationName,
  parsed: ParsedCommand,
  request: Request,
  bodyGiven: boolean,
  naming?: Naming,
): Promise<void> {
  if (isValid(name, request)) return;
  const [{ findRequestProblems, toInvalidFailure }, { getOperation }, { adaptOperation }] =
    await loadChecks();
  const operation = adaptOperation(naming, name, getOperation(name));
  const problems = findRequestProblems(operation, parsed, request, { bodyGiven, naming });
  if (problems.length > 0) throw toInvalidFailure(problems);
}

/** Loads what checks with the schemas of the contract. */
export function loadChecks() {
  return Promise.all([
    import('../command/request.js'),
    import('../../contract/index.js'),
    import('../../contract/naming/adapt-operation.js'),
  ]);
}

/** Sends a request and prints its response, or with `--all` the responses for all pages. */
export async function callOperation(
  context: CommandContext,
  name: OperationName,
  request: Request,
): Promise<void> {
  const { output, flags, signal } = context;
  const outline = getOutline(name);
  const shape = renameShape(context.command.shape, await context.services.findNaming());
  const { client } = await context.services.reach();
  const send = async (query: Request['query']) => {
    const input = { ...request.params, ...query, ...(outline.body && { body: request.body ?? {} }) };
    return (await client.requestNamed(name, input, { signal })).body as object;
  };
  if (!flags.all) {
    const answer = await send(request.query);
    if (flags.csv) return output.csv(answer, shape ?? {});
    await output.answer(answer ?? (outline.response ? {} : undefined), shape);
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
  await output.answer(mergePages(all), shape);
}

/** Gives an answer that several requests make the names of the service, as if one operation had answered it. */
export async function presentAnswer<Answer>(
  { services }: Pick<CommandContext, 'services'>,
  name: OperationName,
  answer: Answer,
): Promise<Answer> {
  const naming = await services.findNaming();
  return naming ? (renameAnswer(naming, getOutline(name), answer, 'theirs') as Answer) : answer;
}

/** The same shape in the names of a service. */
export function renameShape(shape: Shape | undefined, naming: Naming | undefined): Shape | undefined {
  if (!shape || !naming) return shape;
  const rename = (field: string) =>
    field
      .split('.')
      .map((part) => naming.translateField(part))
      .join('.');
  const entries = Object.entries(shape).map(([key, names]) => [
    key,
    Array.isArray(names) ? names.map(rename) : rename(names as string),
  ]);
  return Object.fromEntries(entries);
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
