import { readFileSync, writeFileSync } from 'node:fs';
import { commandTree } from '../src/cli/views/derive.js';

const PATH = 'src/cli/views/commands.generated.json';

/**
 * Writes the command tree as plain data, so that the command line starts without the contract's schemas. Every build,
 * and every run of the tests, writes it first; it is not committed.
 */
export function writeCommands(): void {
  const text = JSON.stringify(commandTree());
  if (text !== readIfPresent(PATH)) writeFileSync(PATH, text);
}

export function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
