import { getOutline, renameInput } from '../../client/outlines.js';
import type { OperationName } from '../../contract/index.js';
import { regen, say } from '../../contract/schema/message.js';
import { buildRequest, type Request, readBodyFlag } from '../command/build-request.js';
import type { ParsedCommand } from '../command/command.js';
import { confirmDestruction, reportDestruction, requireYes } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { callOperation, isValid, loadChecks, requireValid } from './call-operation.js';

export async function run(context: CommandContext): Promise<void> {
  const { command } = context;
  const name = command.operation as OperationName;
  const { method } = getOutline(name);
  const body = await readBodyFlag(context);
  const { args, flags } = await completeValues(context, name, body);
  const naming = await context.services.findNaming();
  const typed = buildRequest(command, args, flags, body);
  const request = naming ? renameInput(naming, getOutline(name), typed) : typed;
  await requireValid(name, { command, args, flags }, request, body !== undefined, naming);
  if (body !== undefined) await warnOfIgnored(context, name, request.body);
  if (method === 'PUT' && Object.keys(request.body ?? {}).length === 0) {
    throw usage('No changes given.', say`See the flags: ${regen(command.words.join(' '), '--help')}`);
  }
  requireYes(context, request.params);
  await completeIds(context, request);
  if (flags['dry-run']) return printDryRun(context, getOutline(name), request);
  await confirmDestruction(context, request.params);
  await callOperation(context, name, request);
  if (command.changes) await context.services.announce(reportDestruction(command, request.params));
}

/** Asks for required values, if the command can prompt. The contract is loaded only if a value may be missing. */
async function completeValues(
  context: CommandContext,
  name: OperationName,
  body: unknown,
): Promise<ParsedCommand> {
  if (!context.mayAsk || body !== undefined) return context;
  if (isValid(name, buildRequest(context.command, context.args, context.flags))) return context;
  const [{ getOperation }, { askMissing }] = await Promise.all([
    import('../../contract/index.js'),
    import('../command/ask-missing.js'),
  ]);
  return askMissing(context, getOperation(name));
}

/** Completes positionals that are the beginning of an id. One that matches none is left to the service to refuse. */
async function completeIds(
  { command, services, signal }: CommandContext,
  { params, query }: Request,
): Promise<void> {
  for (const [name, { operation, field }] of Object.entries(command.lookup ?? {})) {
    const part: Record<string, unknown> = name in params ? params : query;
    const { [name]: typed, ...others } = part;
    if (typeof typed !== 'string' || !/^(msg_[0-9a-f-]{0,35}|[0-9a-f-]{4,35})$/.test(typed)) continue;
    const { client } = await services.reach();
    const { data } = await client.requestNamed(operation, others, { signal });
    const ids = new Set((data as Readonly<Record<string, unknown>>[]).map((item) => String(item[field])));
    const matching = [...ids].filter((id) => id.startsWith(typed));
    if (matching.length > 1)
      throw usage(`${matching.length} ids begin with ${typed}.`, `Type more of it: ${matching.join(', ')}`);
    if (matching[0] !== undefined) part[name] = matching[0];
  }
}

async function warnOfIgnored({ output }: CommandContext, name: string, body: unknown): Promise<void> {
  const [{ listIgnoredFields }, { getOperation }] = await loadChecks();
  for (const field of listIgnoredFields(getOperation(name), body)) {
    await output.warn(`The service does not accept '${field}'; it is ignored.`);
  }
}
