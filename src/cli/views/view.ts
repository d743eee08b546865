import type { z } from 'zod';
import type { OperationName } from '../../contract/index.js';
import type { CommandDestruction, CommandTool, Lookup } from '../command/command.js';
import type { Flags } from '../command/flags.js';
import type { RunCommand } from '../connect/context.js';
import type { Shape } from '../terminal/rows.js';

/**
 * A command as data. What is missing here is derived: summary and flags come from the operation. A positional with the
 * name of a path parameter, query or body field sets that field; an optional one has a flag as well.
 */
export interface View {
  /** Words and positionals: `version update <publisherId> <nodeId> <versionId>`. */
  readonly usage: string;
  readonly operation?: OperationName;
  /** The file in `commands/` that runs it. Default: that which the view is in, otherwise `operation`, which runs any. */
  readonly module?: string;
  readonly summary?: string;
  readonly explain?: Readonly<Record<string, string>>;
  readonly flags?: Flags;
  /** Other last words with which it can be called. */
  readonly aliases?: readonly string[];
  /** A path parameter without a positional: it is found from the node, unless it is typed before the positionals. */
  readonly implied?: string;
  /** Derived flags that are left out, because a positional has the same value. */
  readonly hide?: readonly string[];
  /** Fields with a fixed value, by path: `{ 'body.status': 'NodeStatusBanned' }`. They have no flag. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** The choices of a field that the service accepts here, if not all. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Required fields whose flags are optional, because the command can find the value itself. */
  readonly optional?: readonly string[];
  /** Positionals that may be the beginning of an id, and the operation that lists those ids. */
  readonly lookup?: Lookup;
  readonly shape?: Shape;
  /** What it prints with `--json`, if that is not the response of its operation. */
  readonly answer?: z.ZodType;
  readonly changes?: boolean;
  /** What a command without an operation destroys. Others have it from their operation. */
  readonly destroys?: CommandDestruction;
  readonly local?: true;
  /** Agents can run it in their folder: see agents/command-tool.ts. */
  readonly tool?: CommandTool;
  /** Sentences shown below the flags, after the rules of the operation. */
  readonly notes?: readonly string[];
  /** What else the name of the command could mean, and the command that does that. */
  readonly otherwise?: readonly [what: string, words: string];
  readonly examples?: readonly string[];
}

/** A file of `commands/`: commands that are written by hand, or the run of those that a view names it for. */
export interface CommandFile {
  /** A function, so that the program, which reads the built tree instead, leaves it out. */
  readonly view?: () => View | readonly View[];
  /** A file with several commands has them by their last words. */
  readonly run: RunCommand | Readonly<Record<string, RunCommand>>;
}
