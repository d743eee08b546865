/** `high` flags a version; `low` is only reported. */
export type Severity = 'high' | 'low';

export interface Rule {
  readonly severity: Severity;
  /** One sentence about what stands at the line. It never repeats the code, which could hold a secret. */
  readonly message: string;
  /** What to do about it, in Markdown. */
  readonly fix: string;
}

/** Every rule of the scan. */
// Decided: high is code that is hidden or comes from elsewhere and is run, code that
// could not be read, and secrets outside of tests. What honest packs do every day, such as eval of an expression, is low.
export const RULES = {
  'remote-code': {
    severity: 'high',
    message: 'Runs code that is read from the network.',
    fix: 'Ship the code with the pack, and publish a new version when it changes.',
  },
  'obfuscated-code': {
    severity: 'high',
    message: 'Runs code that is decoded first: it hides what it does.',
    fix: 'Publish the source as it is. Packed or encrypted code cannot be checked by anybody.',
  },
  'remote-pickle': {
    severity: 'high',
    message: 'Unpickles data from the network, which can run any code.',
    fix: 'Download safetensors or JSON instead: they hold data and no code.',
  },
  'downloaded-program': {
    severity: 'high',
    message: 'Downloads a file and runs it.',
    fix: 'Name a package in `dependencies` that brings the program, or ask users to install it.',
  },
  'download-command': {
    severity: 'high',
    message: 'Runs a command that downloads a script and executes it.',
    fix: 'Name what it installs in `dependencies`, or describe the step in the README.',
  },
  'hidden-command': {
    severity: 'high',
    message: 'Runs a command that is decoded or read from the network.',
    fix: 'Write the command in plain text.',
  },
  'unread-code': {
    severity: 'high',
    message: 'Cannot be checked.',
    fix: 'Split files of more than a few megabytes of code, move generated data out of Python, and save the files as UTF-8.',
  },
  secret: {
    severity: 'high',
    message: 'Contains a secret. Revoke it: it has been published.',
    fix: 'Revoke the key, remove it from the file, and read it from a variable or a file of the user instead.',
  },
  'dynamic-code': {
    severity: 'low',
    message: 'Runs code from a text with exec or eval.',
    fix: 'Parse the text instead, for example with `ast.literal_eval`. An honest use is only noted.',
  },
  'compiled-code': {
    severity: 'low',
    message: 'Holds compiled code, which the checks do not read.',
    fix: 'Publish the source beside it, so that people can see what it was built from.',
  },
  pickle: {
    severity: 'low',
    message: 'Unpickles a file, which can run any code.',
    fix: 'Use safetensors for weights and JSON for settings.',
  },
  'runtime-install': {
    severity: 'low',
    message: 'Installs packages while running.',
    fix: 'List the package in `dependencies`; installers read it from there.',
  },
  subprocess: {
    severity: 'low',
    message: 'Starts another program.',
    fix: 'Nothing, if the program and its arguments are what users expect. Say in the README which program is needed.',
  },
  'network-at-import': {
    severity: 'low',
    message: 'Uses the network as soon as the pack is imported.',
    fix: 'Move the request into the function of the node, so that importing the pack works offline.',
  },
  'deletes-folders': {
    severity: 'low',
    message: 'Deletes whole folders.',
    fix: 'Delete only files that the pack created.',
  },
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
