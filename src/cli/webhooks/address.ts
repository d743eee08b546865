import { WebAddress } from '../../contract/schema/values.js';
import { type FlagValues, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';

/** Reads a URL from a flag. @throws Failure if it is not an http(s) URL */
export function readAddress(flags: FlagValues, flag: 'forward-to' | 'public-url' | 'to'): string | undefined {
  const text = readText(flags, flag);
  if (text === undefined) return undefined;
  const checked = WebAddress.safeParse(text);
  // The value is not repeated, because it may hold a password.
  if (!checked.success) throw usage(`--${flag} ${checked.error.issues[0]?.message}.`);
  return text;
}
