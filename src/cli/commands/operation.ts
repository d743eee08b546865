import { getOutline } from '../../client/outlines.js';
import type { OperationName } from '../../contract/index.js';
import { readBodyFlag } from '../command/body.js';
import { buildRequest } from '../command/build-request.js';
import { confirmCommand } from '../command/confirm.js';
import { printDryRun } from '../command/dry-run.js';
import { usage } from '../terminal/failure.js';
import { callOperation, loadChecks, requireValid } from './call-operation.js';
import type { CommandContext } from './context.js';

/** Runs the operation of a command. */
export async function run(context: CommandContext): Promise<void> {
  const { command, args, flags } = context;
  const name = command.operation as OperationName;
  const { method } = getOutline(name);
  const body = await readBodyFlag(context);
  const request = buildRequest(command, args, flags, body);
  await requireValid(name, command, request, body !== undefined, args);
  if (body !== undefined) await warnOfIgnored(context, name, body);
  if (method === 'PUT' && Object.keys(request.body ?? {}).length === 0) {
    throw usage('No changes given.', `See the flags: regen ${command.words.join(' ')} --help`);
  }
  if (flags['dry-run']) return printDryRun(context, getOutline(name), request);
  await confirmCommand(context);
  await callOperation(context, name, request);
  if (command.changes) await context.services.announce();
}

async function warnOfIgnored({ output }: CommandContext, name: string, body: unknown): Promise<void> {
  const [{ listIgnoredFields }, { getOperation }] = await loadChecks();
  for (const field of listIgnoredFields(getOperation(name), body)) {
    await output.warn(`The service does not accept '${field}'; it is ignored.`);
  }
}
