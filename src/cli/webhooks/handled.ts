import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { readPrivateFile, writePrivateFile } from '../../disk/private-file.js';

const mostKept = 10_000;

/**
 * Which webhooks were dealt with, so that a repeat is not dealt with again by this listener or the next one. One line
 * each in a file of the user's own.
 */
export class Handled {
  readonly #path: string;
  readonly #names: Set<string>;

  constructor(stateFolder: string) {
    this.#path = join(stateFolder, 'webhooks', 'handled');
    const lines = (readPrivateFile(this.#path) ?? '').split('\n').filter(Boolean);
    this.#names = new Set(lines.slice(-mostKept));
    // Also where there is no such file: what is added later needs one.
    if (lines.length > 2 * mostKept || lines.length === 0) {
      writePrivateFile(this.#path, [...this.#names].map((name) => `${name}\n`).join(''));
    }
  }

  has(name: string): boolean {
    return this.#names.has(encodeURI(name));
  }

  add(...names: readonly string[]): void {
    // Encoded, because a line end in a name would be two names.
    const fresh = names.map((name) => encodeURI(name)).filter((name) => !this.#names.has(name));
    if (fresh.length === 0) return;
    for (const name of fresh) this.#names.add(name);
    appendFileSync(this.#path, fresh.map((name) => `${name}\n`).join(''), { mode: 0o600 });
  }
}
