import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { appendWhole, readPrivateFile, writePrivateFile } from '../../disk/private-file.js';

const MAX_KEPT = 10_000;

/**
 * The webhooks that were handled, so that neither this listener nor the next one handles them again. They are kept in a
 * file of the user, one per line.
 */
export class Handled {
  readonly #path: string;
  readonly #names: Set<string>;

  constructor(stateFolder: string) {
    this.#path = join(stateFolder, 'webhooks', 'handled');
    const lines = (readPrivateFile(this.#path) ?? '').split('\n').filter(Boolean);
    this.#names = new Set(lines.slice(-MAX_KEPT));
    // Also creates the file, so that `add` can append to it.
    if (lines.length > 2 * MAX_KEPT || lines.length === 0) {
      writePrivateFile(this.#path, [...this.#names].map((name) => `${name}\n`).join(''));
    }
  }

  has(name: string): boolean {
    return this.#names.has(encodeURI(name));
  }

  add(...names: readonly string[]): void {
    // Encoded, because a name with a line break would become two names.
    const fresh = names.map((name) => encodeURI(name)).filter((name) => !this.#names.has(name));
    if (fresh.length === 0) return;
    for (const name of fresh) this.#names.add(name);
    const file = openSync(this.#path, 'a', 0o600);
    try {
      appendWhole(file, fresh.map((name) => `${name}\n`).join(''));
    } finally {
      closeSync(file);
    }
  }
}
