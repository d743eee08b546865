import { usage } from './failure.js';

const UNITS_MS: Record<string, number> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Parses `90s`, `30m`, `48h` or a number of seconds as milliseconds. */
export function durationMs(text: string, flag: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|m|h|d)?$/.exec(text.trim());
  if (!match) throw usage(`${flag} must be a duration such as 90s, 30m or 2h, not '${text}'.`);
  return Number(match[1]) * (UNITS_MS[match[2] ?? 's'] as number);
}

/** Formats a duration for people, rounded up: `40 s`, `3 min`, `2 h`. */
export function formatDuration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7200 ? `${Math.ceil(seconds / 60)} min` : `${Math.ceil(seconds / 3600)} h`;
}
