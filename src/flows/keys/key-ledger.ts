import { type Entry, type EntryChoice, Ledger, type NewEntry } from '../tasks/ledger.js';

export type KeyEntry = Entry & { readonly key?: string };

/**
 * The ledger as a program with an API key sees it: only what was started with the key, as on the service. Without a key,
 * regen sees all tasks.
 */
class KeyLedger extends Ledger {
  constructor(
    /** What identifies the key: its id, or the file that has it. */
    readonly key: string,
    ...ledger: ConstructorParameters<typeof Ledger>
  ) {
    super(...ledger);
  }

  override read(id: string): Entry | undefined {
    const entry: KeyEntry | undefined = super.read(id);
    return entry?.key === this.key ? entry : undefined;
  }

  override async open(draft: NewEntry, choice: EntryChoice) {
    return super.open({ ...draft, key: this.key } as NewEntry, choice);
  }
}

/** Opens the ledger. @param key what identifies the API key that a program was given in place of other credentials */
export function openLedger(key: string | undefined, ...ledger: ConstructorParameters<typeof Ledger>): Ledger {
  return key ? new KeyLedger(key, ...ledger) : new Ledger(...ledger);
}
