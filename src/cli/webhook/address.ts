import { WebAddress } from '../../contract/values.js';
import { usage } from '../failure.js';
import type { Invocation } from '../invocation.js';

/** The address that a flag gives, as it was typed. @throws Failure where it is none of the web */
export function addressIn(invocation: Invocation, flag: 'forward-to' | 'public-url'): string | undefined {
  const text = invocation.text(flag);
  if (text === undefined || WebAddress.safeParse(text).success) return text;
  throw usage(`--${flag} is a URL that begins with http or https, not '${text}'.`);
}
