import { Failure, usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { oneLine } from '../terminal/text.js';
import type { FlagValues } from './command.js';

interface ConfirmContext {
  readonly flags: FlagValues;
  readonly mayAsk: boolean;
  readonly system: Pick<System, 'prompts'>;
}

/**
 * Asks for confirmation, unless `--yes` is given or prompts are not possible: scripts are not asked.
 * @throws Failure with `declined` if the answer is no
 */
export async function confirm(
  { flags, mayAsk, system }: ConfirmContext,
  question: string,
  declined = 'Nothing was changed.',
): Promise<void> {
  if (flags.yes || !mayAsk || (await system.prompts.confirm(oneLine(question)))) return;
  throw new Failure(declined, { code: 'declined' });
}

/**
 * Requires `--show` to print a secret on a terminal.
 * @param instead what else can be done with it
 */
export function requireShow(
  { flags, system }: { readonly flags: FlagValues; readonly system: Pick<System, 'stdout'> },
  secret: 'secret' | 'token',
  instead = 'Pipe it',
): void {
  if (system.stdout.isTTY && !flags.show)
    throw usage(`The ${secret} would be visible on this terminal.`, `${instead}, or pass --show.`);
}
