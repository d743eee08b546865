import type { Leaf } from '../../contract/schema/leaves.js';
import type { Shape } from '../terminal/output.js';

/** The part of a leaf that turns text into a value. */
export type ValueType = Pick<Leaf, 'type' | 'items'>;

/** One flag, as plain data. */
export interface Flag {
  /** Long name without dashes: `changelog`, `advanced-settings.contrast`. */
  readonly name: string;
  readonly short?: string;
  /** Placeholder of its value in help; absent for a switch. */
  readonly value?: string;
  readonly description: string;
  /** A switch that also has its `--no-` form. */
  readonly negatable?: boolean;
  /** May be given more than once; its values make a list. */
  readonly repeat?: boolean;
  /** Where in the request its value goes: `['body', 'name']`; absent: read by the command itself. */
  readonly target?: readonly string[];
  readonly type?: ValueType;
  readonly choices?: readonly string[];
  /** Not listed in help. */
  readonly hidden?: boolean;
  /** Of a global flag: taken only by commands that talk to a service, or that answer with a list. */
  readonly only?: 'service' | 'list';
}

/** One positional, as plain data. */
export interface Argument {
  readonly name: string;
  readonly description?: string;
  readonly required: boolean;
  readonly variadic: boolean;
  readonly target?: readonly string[];
  readonly type?: ValueType;
}

/** One command of the tree, as plain data: what help, completion and the reference need, and what runs it. */
export interface Command {
  readonly words: readonly string[];
  readonly summary: string;
  readonly arguments: readonly Argument[];
  readonly flags: readonly Flag[];
  readonly examples: readonly string[];
  /** What holds between its flags, a sentence each. */
  readonly notes?: readonly string[];
  /** The one operation it runs; absent for a command written by hand. */
  readonly operation?: string;
  /** Values of the request that its words give, by place: `body.status`. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** The file of `commands/` that runs it. */
  readonly module: string;
  readonly shape?: Shape;
  /** Which global flags mean something to it, besides those that every command takes. */
  readonly takes: readonly ('service' | 'list')[];
  /** It changes something on the service: `--dry-run` is offered, and the service is named after it. */
  readonly changes?: boolean;
  /** What a person is asked before it runs; `<name>` stands for a positional. */
  readonly confirm?: string;
  /** Not listed in help. */
  readonly hidden?: boolean;
}

export interface CommandTree {
  readonly groups: Readonly<Record<string, string>>;
  readonly globals: readonly Flag[];
  readonly commands: readonly Command[];
}

/** The values of a command's flags by long name, as they were typed. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;
export type ArgumentValues = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A command, with what was typed for it. */
export interface ParsedCommand {
  readonly command: Command;
  readonly args: ArgumentValues;
  readonly flags: FlagValues;
}

/** The text of a flag, if it was given. */
export function readText(flags: FlagValues, name: string): string | undefined {
  const value = flags[name];
  return typeof value === 'string' ? value : undefined;
}
