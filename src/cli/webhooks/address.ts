import { WebAddress } from '../../contract/schema/values.js';
import { type FlagValues, readText } from '../command/command.js';
import { usage } from '../terminal/failure.js';

/** The address that a flag gives, as it was typed. @throws Failure where it is none of the web */
export function readAddress(flags: FlagValues, flag: 'forward-to' | 'public-url'): string | undefined {
  const text = readText(flags, flag);
  if (text === undefined || WebAddress.safeParse(text).success) return text;
  throw usage(`--${flag} is a URL that begins with http or https, not '${text}'.`);
}
