import type { OperationName } from '../../contract/index.js';
import type { Flag } from '../command/command.js';
import type { Shape } from '../terminal/output.js';

/**
 * A command as data. What it does not say is derived: summary and flags come from the operation, positionals named
 * like a path parameter, query or body field fill that field; an optional one has its flag as well.
 */
export interface View {
  /** Words and positionals: `version update <publisherId> <nodeId> <versionId>`. */
  readonly usage: string;
  readonly operation?: OperationName;
  /** The file of `commands/` that runs it; absent: `operation`, which runs any operation. */
  readonly module?: string;
  readonly summary?: string;
  /** What a positional means, where its name does not say it. */
  readonly explain?: Readonly<Record<string, string>>;
  readonly flags?: readonly Flag[];
  /** Derived flags left out, because a positional already says the same. */
  readonly hide?: readonly string[];
  /** Fields that the command's own words give, by place: `{ 'body.status': 'NodeStatusBanned' }`. They have no flag. */
  readonly fixed?: Readonly<Record<string, string>>;
  /** Of a field's choices, those that the service takes here. */
  readonly choices?: Readonly<Record<string, readonly string[]>>;
  /** Required fields that the command can come by in another way, so that their flags are not. */
  readonly optional?: readonly string[];
  readonly short?: Readonly<Record<string, string>>;
  readonly shape?: Shape;
  readonly changes?: boolean;
  /** For what cannot be undone: the question to a person, `<nodeId>` standing for what was typed. `--yes` answers it. */
  readonly confirm?: string;
  /** It talks to no service. */
  readonly local?: true;
  readonly hidden?: boolean;
  /** Sentences below the flags, besides those of the operation's rules. */
  readonly notes?: readonly string[];
  readonly examples?: readonly string[];
}
