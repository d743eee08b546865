import type { FlagValues } from '../command/command.js';
import { mostCredits } from '../generation/price.js';
import { usage } from '../terminal/failure.js';

/** What a batch may use. */
export interface Limits {
  /** Tasks under way at a time. */
  readonly concurrency: number;
  readonly credits: number | undefined;
}

// Decided: four at a time; the embedded service works on fewer, and the others are read and saved meanwhile.
const usual = 4;
// Each task under way is looked at by itself.
const most = 100;

/** @throws Failure where a flag is no such number */
export function limitsOf(flags: FlagValues): Limits {
  const { concurrency = usual } = flags;
  const atOnce = /^\d{1,4}$/.test(String(concurrency)) ? Number(concurrency) : 0;
  if (atOnce < 1 || atOnce > most) {
    throw usage(`--concurrency is a whole number from 1 to ${most}, not '${concurrency}'.`);
  }
  return { concurrency: atOnce, credits: mostCredits(flags) };
}
