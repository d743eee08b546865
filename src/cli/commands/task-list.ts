import type { CommandContext } from './context.js';

/** Lists the ledger. A terminal shows one id per task, that of the service if there is one; all commands take both. */
export async function run({ command, ledger, output, system }: CommandContext): Promise<void> {
  const entries = [...ledger.entries()];
  if (!system.stdout.isTTY || output.mode.json || output.mode.ndjson)
    return output.answer(entries, command.shape);
  const columns = command.shape?.columns?.filter((name) => name !== 'task_id');
  await output.answer(
    entries.map((entry) => ({ ...entry, id: entry.task_id ?? entry.id })),
    { ...command.shape, ...(columns && { columns }) },
  );
}
