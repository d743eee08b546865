import type { ParsedCommand } from '../command/command.js';
import type { Connect } from '../connect/clients.js';
import type { Folders } from '../connect/folders.js';
import type { Ledger } from '../connect/ledger.js';
import type { ServiceConnector } from '../connect/services.js';
import type { Settings } from '../connect/settings.js';
import type { Interruption } from '../terminal/interrupted.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';

/** What a command is run with: what was typed, and what it may use. It hands on the parts that others need. */
export interface CommandContext extends ParsedCommand {
  readonly system: System;
  readonly output: Output;
  readonly interruption: Interruption;
  /** That of the interruption. */
  readonly signal: AbortSignal;
  readonly folders: Folders;
  readonly settings: Settings;
  /** The tasks that were started from here. */
  readonly ledger: Ledger;
  readonly connect: Connect;
  readonly services: ServiceConnector;
  /** Whether somebody is there to answer a question. */
  readonly mayAsk: boolean;
}

/** What runs a command; its number is the exit code, nothing means done. */
export type RunCommand = (context: CommandContext) => Promise<number | undefined> | Promise<void>;
