/** `high` flags a version; `low` is only reported. */
export type Severity = 'high' | 'low';

export interface Rule {
  readonly severity: Severity;
  /** One sentence about what stands at the line. It never repeats the code, which could hold a secret. */
  readonly message: string;
}

/** Every rule of the scan. */
// Decided: high is code that is hidden or comes from elsewhere and is run, code that
// could not be read, and secrets outside of tests. What honest packs do every day, such as eval of an expression, is low.
export const RULES = {
  'remote-code': { severity: 'high', message: 'Runs code that is read from the network.' },
  'obfuscated-code': { severity: 'high', message: 'Runs code that is decoded first: it hides what it does.' },
  'remote-pickle': {
    severity: 'high',
    message: 'Unpickles data from the network, which can run any code.',
  },
  'downloaded-program': { severity: 'high', message: 'Downloads a file and runs it.' },
  'download-command': {
    severity: 'high',
    message: 'Runs a command that downloads a script and executes it.',
  },
  'hidden-command': { severity: 'high', message: 'Runs a command that is decoded or read from the network.' },
  'unread-code': { severity: 'high', message: 'Cannot be checked.' },
  secret: { severity: 'high', message: 'Holds a secret; revoke it, because it has been published here.' },
  'dynamic-code': { severity: 'low', message: 'Runs code from a text with exec or eval.' },
  'compiled-code': { severity: 'low', message: 'Holds compiled code, which the checks do not read.' },
  pickle: { severity: 'low', message: 'Unpickles a file, which can run any code.' },
  'runtime-install': { severity: 'low', message: 'Installs packages while running.' },
  subprocess: { severity: 'low', message: 'Starts another program.' },
  'network-at-import': { severity: 'low', message: 'Uses the network as soon as the pack is imported.' },
  'deletes-folders': { severity: 'low', message: 'Deletes whole folders.' },
} as const satisfies Record<string, Rule>;

export type RuleName = keyof typeof RULES;

export interface Finding {
  readonly file: string;
  /** From 1. */
  readonly line: number;
  readonly rule: RuleName;
  readonly severity: Severity;
  readonly message: string;
}

export function createFinding(
  file: string,
  line: number,
  rule: RuleName,
  { message, severity }: { readonly message?: string; readonly severity?: Severity } = {},
): Finding {
  const { [rule]: usual } = RULES;
  return { file, line, rule, severity: severity ?? usual.severity, message: message ?? usual.message };
}

/** Code that was not read; `why` is the rest of a sentence. */
export function createUnreadFinding(file: string, why: string): Finding {
  return createFinding(file, 1, 'unread-code', { message: `Cannot be checked: ${why}.` });
}
