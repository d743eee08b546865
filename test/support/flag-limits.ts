import { expect } from 'vitest';
import { regen } from './cli.js';

/** What one flag of a command takes and what it does not. */
export interface Row {
  readonly command: readonly string[];
  readonly flag: string;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
}

/** The values of a choice, and some that are none. */
export const limitToChoice = (words: string) => ({
  accepted: words.split(' '),
  refused: ['loud', words.toUpperCase(), ''],
});

/** Dry-runs a flag with each of its values: accepted in silence, or refused in words that name the flag. */
export async function checkFlagLimits(row: Row, cwd: string): Promise<void> {
  const run = (value: string) => regen([...row.command, `--${row.flag}=${value}`, '--dry-run'], { cwd });
  for (const value of row.accepted) {
    const { exit, stderr } = await run(value);
    expect({ value, exit, stderr }).toEqual({ value, exit: 0, stderr: '' });
  }
  for (const value of row.refused) {
    const { exit, stdout, stderr } = await run(value);
    expect({ value, exit, stdout }).toEqual({ value, exit: 2, stdout: '' });
    expect(stderr).toContain(`--${row.flag} `);
  }
}
