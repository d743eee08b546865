/** Reports warnings and errors of a running service to its operator. */
export type Log = (level: 'warn' | 'error', message: string, fields?: Record<string, unknown>) => void;
