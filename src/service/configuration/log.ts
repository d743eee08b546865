import { maskTokens } from '../../wire/mask-tokens.js';

export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Tells the operator of a running service what happens. */
export type Log = (level: LogLevel, message: string, fields?: Record<string, unknown>) => void;

// Decided: the lines have the shape that pino writes, without pino, whose loading takes as long as Node's own start.
/** @param now milliseconds since the epoch */
export function createLineLog(now: () => number, write: (line: string) => void): Log {
  return (level, message, fields) =>
    write(
      `${maskTokens(JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...fields }))}\n`,
    );
}

/** Leaves out what is below a level. */
export function limitLog(least: LogLevel, log: Log): Log {
  const first = LOG_LEVELS.indexOf(least);
  return (level, message, fields) => {
    if (LOG_LEVELS.indexOf(level) >= first) log(level, message, fields);
  };
}

export type Count = (event: CountedEvent, labels?: Readonly<Record<string, string>>) => void;

export type CountedEvent = 'leases_lost' | 'webhook_attempts' | 'vendor_errors';
