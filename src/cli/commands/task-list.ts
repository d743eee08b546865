import type { CommandContext } from './context.js';

/** Lists the ledger; to a person with one id a task, its own where it has one: each names it to every command. */
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
