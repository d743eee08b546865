export const LOG_LEVELS = ['info', 'warn', 'error'] as const;

export type LogLevel = (typeof LOG_LEVELS)[number];

/** Tells the operator of a running service what happens. */
export type Log = (level: LogLevel, message: string, fields?: Record<string, unknown>) => void;

// Decided: the lines have the shape that pino writes, without pino, whose loading takes as long as Node's own start.
/**
 * Creates a log that writes one line of JSON for each message of at least this level.
 * @param now milliseconds since the epoch
 */
export function createLog(least: LogLevel, now: () => number, write: (line: string) => void): Log {
  const isWritten = (level: LogLevel) => LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(least);
  return (level, message, fields) => {
    if (!isWritten(level)) return;
    write(`${JSON.stringify({ at: new Date(now()).toISOString(), level, message, ...fields })}\n`);
  };
}
