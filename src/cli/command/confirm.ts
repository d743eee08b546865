import { Failure } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import type { ParsedCommand } from './command.js';

interface ConfirmContext extends ParsedCommand {
  readonly mayAsk: boolean;
  readonly system: Pick<System, 'prompts'>;
}

/**
 * Asks for confirmation of an irreversible command if prompts are possible; scripts are not asked.
 * @throws Failure if the answer is no
 */
export async function confirmCommand({
  command,
  args,
  flags,
  mayAsk,
  system,
}: ConfirmContext): Promise<void> {
  if (!command.confirm || flags.yes || !mayAsk) return;
  const question = command.confirm.replace(/<(\w+)>/g, (_, name: string) => String(args[name]));
  if (await system.prompts.confirm(question)) return;
  throw new Failure('Nothing was changed.', { code: 'declined' });
}
