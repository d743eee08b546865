import type { Ledger } from '../../flows/tasks/ledger.js';
import type { ParsedCommand } from '../command/command.js';
import type { Interruption } from '../terminal/interrupted.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import type { Connect } from './clients.js';
import type { Folders } from './folders.js';
import type { ServiceConnector } from './services.js';
import type { Settings } from './settings.js';

/** The parsed command line, and everything that a command uses. */
export interface CommandContext extends ParsedCommand {
  readonly system: System;
  readonly output: Output;
  readonly interruption: Interruption;
  /** Aborted by an interruption. */
  readonly signal: AbortSignal;
  readonly folders: Folders;
  readonly settings: Settings;
  /** The tasks that were started from here. */
  readonly ledger: Ledger;
  readonly connect: Connect;
  readonly services: ServiceConnector;
  /** Whether the command can prompt. */
  readonly mayAsk: boolean;
  runCommand(argv: readonly string[], system: System): Promise<number>;
}

/** What a function uses of the context of a command. */
export type Needs<Key extends keyof CommandContext> = Pick<CommandContext, Key>;

/** Runs a command. It returns the exit code; nothing means 0. */
export type RunCommand = (context: CommandContext) => Promise<number | undefined> | Promise<void>;
