import { WebAddress } from '../../contract/schema/values.js';
import { type FlagValues, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';

/** Reads a URL from a flag. @throws Failure if it is not an http(s) URL */
export function readAddress(flags: FlagValues, flag: 'forward-to' | 'public-url'): string | undefined {
  const text = readText(flags, flag);
  if (text === undefined || WebAddress.safeParse(text).success) return text;
  throw usage(`--${flag} must be an http:// or https:// URL, not '${text}'.`);
}
