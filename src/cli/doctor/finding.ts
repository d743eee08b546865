/** One row of the doctor's report. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  /** What was found. */
  readonly detail: string;
  /** What to do about it. */
  readonly advice?: string;
  /** The exit code this failure would give a command. */
  readonly exit?: number;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail };
}

export function warn(check: string, detail: string, advice: string): Finding {
  return { check, status: 'warn', detail, advice };
}

export function fail(check: string, detail: string, exit: number, advice: string): Finding {
  return { check, status: 'fail', detail, exit, advice };
}
