import type { Target } from '../../flows/tasks/task.js';
import { type FlagValues, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import { isNamedByFolder, NAME_SERVICE, TOKEN_VARIABLES } from './settings.js';

interface Given {
  readonly env: System['env'];
  readonly flags: FlagValues;
  readonly isChanging: boolean;
}

/**
 * Refuses tokens for a service that the user has not named. A CI job that has some, but no address, expects an existing
 * service, not a new embedded one.
 * @throws Failure
 */
export function refuseUnnamed(target: Target, { env, flags, isChanging }: Given): void {
  if (isNamedByFolder(target)) refuseFolder(target, env, flags);
  // The service of a task that was started from here, which gets no token of the environment.
  if (target.source === 'ledger' || !isChanging) return;
  // CI sets a secret that the job may not read to an empty value.
  const names = ['REGEN_KEY_FILE', ...TOKEN_VARIABLES, 'REGEN_BASE_URL'];
  const given = names.find((name) => env[name] !== undefined);
  if (!given) return;
  const state = env[given] === '' ? 'set but empty' : 'set';
  throw usage(`${given} is ${state}, and no service is named.`, NAME_SERVICE);
}

/** A folder may be another person's work, and the token is for the service that its user has in mind. */
function refuseFolder(
  { name, source, profile, baseUrl }: Target,
  env: System['env'],
  flags: FlagValues,
): void {
  const names = [...TOKEN_VARIABLES, 'REGEN_KEY_FILE'];
  const given = readText(flags, 'token-file') ? '--token-file' : names.find((one) => env[one]);
  if (!given) return;
  const isAddress = profile === undefined && baseUrl !== undefined;
  throw usage(
    `${given} is set, but only ${source} names a service, ${isAddress ? name : `the profile ${name}`}.`,
    `To send the token to it, pass ${isAddress ? '--base-url' : '--profile'} ${name}, or set REGEN_BASE_URL to its address.`,
  );
}

/** Says that the owner of the embedded service is used, although there is a token. */
export async function warnOfUnused(
  { source }: Target,
  env: System['env'],
  output: Pick<Output, 'warn'>,
): Promise<void> {
  const given = TOKEN_VARIABLES.find((name) => env[name]);
  if (given && source === 'default')
    await output.warn(`${given} is not used, because no service is named. ${NAME_SERVICE}`);
}

/** What to do if a variable is there, but has no token; undefined if there is none. */
export function explainEmpty(env: System['env'], names = TOKEN_VARIABLES): string | undefined {
  const name = names.find((one) => env[one]?.trim() === '');
  return name && `${name} is empty. In a CI job, check that the job can read the secret.`;
}

type Others = readonly (readonly [RegExp, string])[];

/** The formats of `admin generate-token --format`. */
const FORMATS: Others = [
  [/^(export\s+)?[A-Z][A-Z0-9_]*=/, 'a variable, as in NAME=token'],
  [/^authorization:/i, 'a header'],
  [/^[[{]/, 'JSON'],
];

/** What else may be there instead of a token. */
const OTHERS: Others = [
  [/^bearer\s/i, 'the word Bearer'],
  [/^["'`“‘]|["'`”’]$/, 'quotation marks'],
  [/\s/, 'several words'],
  [/[^\x21-\x7e]/, 'characters that no token has'],
];

/**
 * Refuses what is not a token. It is not repeated, because a part of it may be one.
 * @throws Failure
 */
export function refuseOthers(text: string, place: string): void {
  if (text === '') throw usage(`${place} has no token.`);
  const find = (others: Others) => others.find(([form]) => form.test(text))?.[1];
  const format = find(FORMATS);
  const found = format ?? find(OTHERS);
  const hint = `Remove what is around the token.${format ? ' For an admin token, create the file without --format.' : ''}`;
  if (found) throw usage(`${place} must contain only the token, but contains ${found}.`, hint);
}
