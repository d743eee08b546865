import type { CommandContext } from '../connect/context.js';
import { parseReason } from '../publish/parse-reason.js';
import { Failure } from '../terminal/failure.js';

/** `version get` and `version list`; with `--reasons` why a registry flagged or banned the versions. */
export async function run(context: CommandContext): Promise<void> {
  const { args, flags, output, signal } = context;
  if (!flags.reasons) return (await import('./operation.js')).run(context);
  const nodeId = args.nodeId as string;
  const version = args.version as string | undefined;
  const { client } = await context.services.reach();
  const { statuses } = flags;
  // Other registries give reasons in the list of versions only.
  const all = await client.version.list(
    { nodeId, ...(statuses !== undefined && { statuses: statuses as never }) },
    { signal },
  );
  const chosen = version === undefined ? all : all.filter((one) => one.version === version);
  if (version !== undefined && chosen.length === 0) {
    throw new Failure(`The node ${nodeId} has no version ${version}.`, { code: 'not_found' });
  }
  const rows = chosen.flatMap(({ version: name, status, status_reason }) =>
    parseReason(status_reason ?? '').map((reason) => ({ version: name, status, ...reason })),
  );
  if (rows.length > 0 || output.mode.json)
    return output.answer(rows, { columns: ['version', 'status', 'where', 'rule', 'detail'] });
  const pending = chosen.filter(({ status }) => status === 'NodeVersionStatusPending').length;
  await output.note(
    pending > 0
      ? `${pending} of ${chosen.length} versions still wait for a verdict; the others have no reason.`
      : 'The registry gives no reason.',
  );
}
