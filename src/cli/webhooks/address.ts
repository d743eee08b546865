import { WebAddress } from '../../contract/schema/values.js';
import type { Invocation } from '../command/invocation.js';
import { usage } from '../terminal/failure.js';

/** The address that a flag gives, as it was typed. @throws Failure where it is none of the web */
export function addressIn(invocation: Invocation, flag: 'forward-to' | 'public-url'): string | undefined {
  const text = invocation.text(flag);
  if (text === undefined || WebAddress.safeParse(text).success) return text;
  throw usage(`--${flag} is a URL that begins with http or https, not '${text}'.`);
}
