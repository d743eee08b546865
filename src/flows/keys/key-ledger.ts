import { type Entry, type EntryChoice, Ledger, type NewEntry } from '../tasks/ledger.js';

export type KeyEntry = Entry & { readonly key?: string };

/**
 * The ledger as a program with an API key sees it: only what was started with keys of its name, as on the service. Without
 * a key, regen sees all tasks.
 */
class KeyLedger extends Ledger {
  readonly #all: Ledger;

  constructor(
    /** What identifies the program: the name of its keys, or else the file that has one. */
    readonly key: string,
    ...ledger: ConstructorParameters<typeof Ledger>
  ) {
    super(...ledger);
    this.#all = new Ledger(...ledger);
  }

  override read(id: string): Entry | undefined {
    const entry: KeyEntry | undefined = super.read(id);
    return entry?.key === this.key ? entry : undefined;
  }

  /** @throws FlowError task_hidden if an earlier run started the same task with another credential */
  override async open(draft: NewEntry, choice: EntryChoice) {
    const opened = await super.open({ ...draft, key: this.key } as NewEntry, choice);
    const other = choice === 'unfinished' && !opened.repeats && this.#all.findUnfinished(opened.entry);
    if (!other) return opened;
    this.remove(opened.entry.id);
    const { createHiddenError } = await import('../tasks/hidden-task.js');
    throw createHiddenError(other);
  }
}

/** What identifies the program that `regen exec` or its user gave the file of an API key; undefined without one. */
export function nameProgram({ REGEN_KEY_FILE, REGEN_KEY_NAME }: NodeJS.ProcessEnv): string | undefined {
  return REGEN_KEY_FILE && (REGEN_KEY_NAME || REGEN_KEY_FILE);
}

/** Opens the ledger. @param key what identifies the program that was given an API key in place of other credentials */
export function openLedger(key: string | undefined, ...ledger: ConstructorParameters<typeof Ledger>): Ledger {
  return key ? new KeyLedger(key, ...ledger) : new Ledger(...ledger);
}
