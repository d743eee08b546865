/** One row of the report of `regen doctor`. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly advice?: string;
  /** The exit code of a command that fails for this reason. */
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
