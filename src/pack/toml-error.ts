import type { TomlError } from 'smol-toml';

/** Says in a few words why a text is not valid TOML, and of a name that occurs twice which one it is; never a value. */
export function describeTomlError({ message, line }: TomlError, text: string): string {
  const [reason = ''] = message.replace('Invalid TOML document: ', '').split('\n');
  if (!reason.includes('already defined')) return reason;
  const [name = ''] = (text.split('\n')[line - 1] ?? '').split(/[=#]/);
  return `${name.trim()} is already defined`;
}
