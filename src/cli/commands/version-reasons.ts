import { parseReason } from '../../contract/parse-reason.js';
import { completeVersion } from '../../contract/schema/semantic-version.js';
import type { Flags } from '../command/flags.js';
import type { Needs } from '../connect/context.js';
import { Failure } from '../terminal/failure.js';
import type { View } from '../views/view.js';
import { run as runOperation } from './operation.js';

type Context = Needs<'command' | 'args' | 'flags' | 'system' | 'output' | 'signal' | 'services' | 'mayAsk'>;

export function view(): View[] {
  const reasons: Flags = {
    '--reasons':
      'Show why versions were flagged or banned, one finding per line, with its file and line if the registry reports them',
  };
  return [
    {
      usage: 'version get <nodeId> <version>',
      operation: 'version.get',
      flags: { ...reasons },
    },
    {
      usage: 'version list <nodeId>',
      operation: 'version.list',
      flags: { ...reasons },
      shape: {
        columns: ['version', 'status', 'deprecated', 'createdAt', 'status_reason'],
        less: ['deprecated'],
      },
    },
  ];
}

/** On a terminal, a list also has the messages of deprecated versions, if there is room for them. */
function showMessages(context: Context): Context {
  const { command, system } = context;
  const { columns, less = [] } = command.shape ?? {};
  if (!columns || !system.stdout.isTTY) return context;
  const field = 'deprecation_message';
  const shape = { ...command.shape, columns: [...columns, field], less: [field, ...less] };
  return { ...context, command: { ...command, shape } };
}

/** `version get` and `version list`; with `--reasons` why a registry flagged or banned the versions. */
export async function run(context: Context): Promise<void> {
  const { args, flags, output, signal } = context;
  if (!flags.reasons) return runOperation(showMessages(context));
  const nodeId = args.nodeId as string;
  await context.services.readAsPublisher(nodeId);
  const version = args.version as string | undefined;
  const { client } = await context.services.reach();
  const { statuses } = flags;
  // Other registries give reasons in the list of versions only.
  const all = await client.version.list(
    { nodeId, ...(statuses !== undefined && { statuses: statuses as never }) },
    { signal },
  );
  const isMeant = (one = '') => version === undefined || completeVersion(one) === completeVersion(version);
  const chosen = all.filter((one) => isMeant(one.version));
  if (version !== undefined && chosen.length === 0) {
    throw new Failure(`The node ${nodeId} has no version ${version}.`, { code: 'not_found' });
  }
  const rows = chosen.flatMap(({ version: name, status, status_reason }) =>
    parseReason(status_reason ?? '').map((reason) => ({ version: name, status, ...reason })),
  );
  if (rows.length > 0 || output.mode.json)
    return output.answer(rows, { columns: ['version', 'status', 'where', 'rule', 'detail', 'severity'] });
  const pending = chosen.filter(({ status }) => status === 'NodeVersionStatusPending').length;
  await output.note(
    pending > 0
      ? `${pending} of ${chosen.length} versions still wait for a verdict; the others have no reason.`
      : 'The registry gives no reason.',
  );
}
