import type { OperationName } from '../../contract/index.js';
import type { Destruction } from '../../contract/operation.js';
import type { FieldDescription } from '../../contract/schema/fields.js';
import { usage } from '../terminal/failure.js';
import type { Shape } from '../terminal/rows.js';

/** The part of a field description that defines how text is converted to a value. */
export type ValueType = Pick<FieldDescription, 'type' | 'items'>;

export interface Flag {
  /** Long name without dashes: `changelog`, `advanced-settings.contrast`. */
  readonly name: string;
  readonly short?: string | undefined;
  /** The placeholder of its value in help. Absent: the flag takes no value. */
  readonly value?: string;
  readonly description: string;
  /** Whether there is a `--no-` form as well. */
  readonly negatable?: boolean;
  /** Whether it can be given more than once; its values are then a list. */
  readonly repeat?: boolean;
  /** The path of its value in the request: `['body', 'name']`. Absent: the command reads it. */
  readonly target?: readonly string[];
  readonly type?: ValueType;
  readonly choices?: readonly string[];
  /** Not listed in help. */
  readonly hidden?: boolean;
  /** For a global flag: only commands that use a service, or that print a list, accept it. */
  readonly only?: 'service' | 'list';
}

export interface CommandDestruction extends Destruction {
  /** Only with this flag. */
  readonly flag?: string;
}

export interface CommandTool {
  readonly flags?: readonly string[];
  /** Only for those who ask for it by name. */
  readonly asked?: true;
}

export interface Argument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly variadic: boolean;
  readonly target?: readonly string[];
  readonly type?: ValueType;
  readonly choices?: readonly string[];
}

/** One command of the tree, as plain data for help, completion, the reference and the runner. */
export interface Command {
  readonly words: readonly string[];
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** Rules between its flags, one sentence each. */
  readonly notes?: readonly string[];
  /** What else its name could mean, and the command that does that. */
  readonly otherwise?: readonly [what: string, words: string];
  /** The operation it runs; absent for a command that is written by hand. */
  readonly operation?: string;
  /** Fixed values of the request, by path: `body.status`. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** The file in `commands/` that runs it. */
  readonly module: string;
  readonly shape?: Shape;
  /** Which global flags it accepts, besides those that every command accepts. */
  readonly takes: readonly ('service' | 'list')[];
  /** Whether it changes something on the service. It then has `--dry-run`, and prints the name of the service at the end. */
  readonly changes?: boolean;
  /** Present if nothing brings back what it removes: it asks first, and has `--yes`. */
  readonly destroys?: CommandDestruction;
  readonly lookup?: Lookup;
  /** Other last words with which it can be called. */
  readonly aliases?: readonly string[];
  /** The path parameter that is found from the node, unless it is typed before the positionals. */
  readonly implied?: string;
  /** Whether its answer holds a secret, which a terminal shows only with `--show`. */
  readonly secret?: boolean;
  readonly tool?: CommandTool;
  /** Present if the values of its flags depend on a model. */
  readonly models?: Models;
}

/** What a positional may be in place of an id. */
interface IdLookup {
  /** Lists the ids that it may be the beginning of. */
  readonly operation: OperationName;
  /** The field with the id. */
  readonly field: string;
  /** The field with an email address, which may be given, too. */
  readonly email?: string;
  /** The query parameter that finds an email address. */
  readonly search?: string;
}

/** By positional. */
export type Lookup = Readonly<Record<string, IdLookup>>;

/** The durations in whole seconds for which a model offers the same resolutions. */
export interface Mode {
  readonly from: number;
  readonly to: number;
  readonly resolutions: readonly string[];
}

export interface Models {
  readonly standard: string;
  readonly modes: Readonly<Record<string, readonly Mode[]>>;
}

export interface CommandTree {
  /** The first words of all commands, in the order of help. */
  readonly words: readonly string[];
  readonly groups: Readonly<Record<string, string>>;
  readonly globals: readonly Flag[];
  /** The pages of `regen help <topic>`: their names and titles. */
  readonly topics: Readonly<Record<string, string>>;
  readonly commands: readonly Command[];
}

/** The values of a command's flags as typed, by long name. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
export type ArgumentValues = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface ParsedCommand {
  readonly command: Command;
  readonly args: ArgumentValues;
  readonly flags: FlagValues;
}

export function readText(flags: FlagValues, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}

/** 0 stands for any free port. */
export const PORTS = { max: 65_535 };

/**
 * Reads a flag that is a whole number, if given.
 * @throws Failure if it is not one in the range
 */
export function readNumber(
  flags: FlagValues,
  name: string,
  { min = 0, max }: { readonly min?: number; readonly max?: number } = {},
): number | undefined {
  const text = readText(flags, name);
  if (text === undefined) return undefined;
  const value = /^\d+$/.test(text) ? Number(text) : -1;
  const most = max ?? Number.MAX_SAFE_INTEGER;
  if (value >= min && value <= most) return value;
  const isBounded = max !== undefined || value > most;
  const range = isBounded ? ` from ${min} to ${most}` : min > 0 ? ` from ${min}` : '';
  throw usage(`--${name} must be a whole number${range}, not '${text}'.`);
}

/** The flag of the commands that read a lock file, and the defaults of the project beside it. */
export const LOCK_FILE_FLAG = 'lock-file';

/** Whether an argument is a path. The id of a node never is one. */
export function isPath(text: unknown): text is string {
  return typeof text === 'string' && (/[/\\]/.test(text) || text === '.' || text === '..');
}

export function isFolderCommand({ arguments: positionals }: Command): boolean {
  return positionals.some(({ name }) => name === 'dir');
}
