import { Failure, usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { oneLine } from '../terminal/text.js';
import type { Command, FlagValues } from './command.js';

interface ConfirmContext {
  readonly flags: FlagValues;
  readonly mayAsk: boolean;
  readonly system: Pick<System, 'prompts'>;
}

interface DestroyContext extends ConfirmContext {
  readonly command: Command;
}

/** The path parameters and other names in what a command destroys. */
type Names = Readonly<Record<string, unknown>>;

/**
 * Asks for confirmation, unless `--yes` is given or prompts are not possible: scripts are not asked.
 * @throws Failure with `declined` if the answer is no
 */
export async function confirm(
  { flags, mayAsk, system }: ConfirmContext,
  question: string,
  declined = 'Cancelled. Nothing was changed.',
): Promise<void> {
  if (flags.yes || !mayAsk || (await system.prompts.confirm(oneLine(question)))) return;
  throw new Failure(declined, { code: 'declined' });
}

/**
 * Asks before a command destroys something. Where it cannot ask, it requires `--yes`.
 * @throws Failure if the answer is no, or there can be none
 */
export async function confirmDestruction(context: DestroyContext, names: Names): Promise<void> {
  const destroys = findDestruction(context);
  if (!destroys) return;
  requireYes(context, names);
  await confirm(context, `${fillNames(destroys.action, names)}? ${destroys.loss}`);
}

function findDestruction({ command: { destroys }, flags }: Pick<DestroyContext, 'command' | 'flags'>) {
  const isMeant = !flags['dry-run'] && (destroys?.flag === undefined || flags[destroys.flag]);
  return isMeant ? destroys : undefined;
}

/** Requires `--yes` of a command that destroys something and cannot ask, before anything is sent. */
export function requireYes(context: DestroyContext, names: Names): void {
  const destroys = findDestruction(context);
  if (!destroys || context.flags.yes || context.mayAsk) return;
  const action = fillNames(destroys.action, names);
  throw usage(
    `--yes is required to ${action.charAt(0).toLowerCase()}${action.slice(1)}.`,
    `${destroys.loss} Without a terminal, regen cannot ask for confirmation.`,
  );
}

/** Says what a command destroyed: `Deleted version 1.0.0 of hello-nodes`. Undefined if it destroys nothing. */
export function reportDestruction({ destroys }: Command, names: Names): string | undefined {
  // Actions begin with a verb that ends in e.
  return destroys && fillNames(destroys.action.replace(' ', 'd '), names);
}

function fillNames(text: string, names: Names): string {
  // The publisher of a node is not known before the service was asked.
  const fill = (_: string, link = '', name = '') =>
    names[name] === undefined ? '' : `${link}${names[name]}`;
  return oneLine(text.replace(/( of )?\{(\w+)\}/g, fill));
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
