import { exitCodes, Failure } from '../terminal/failure.js';
import type { Invocation } from './invocation.js';

/**
 * Asks before what cannot be undone, where a person is there to answer; a script knows what it does.
 * @throws Failure where the answer is no
 */
export async function confirmed({ command, args, flags, mayAsk, system }: Invocation): Promise<void> {
  if (!command.confirm || flags.yes || !mayAsk) return;
  const question = command.confirm.replace(/<(\w+)>/g, (_, name: string) => String(args[name]));
  if (await system.prompts.confirm(question)) return;
  throw new Failure('Nothing was changed.', { code: 'declined', exit: exitCodes.usage });
}
