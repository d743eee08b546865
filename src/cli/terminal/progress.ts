import type { Ora } from 'ora';
import type { Stages } from '../../flows/publish/pack.js';
import { formatBytes } from '../../wire/format-bytes.js';
import type { Output } from './output.js';
import { isPlain, isUnicode, oneLine, toLocale } from './text.js';

/** The spinner, a space, two columns for ^C, and one that stays free, because some terminals wrap after the last one. */
const SPINNER_WIDTH = 5;

/** Shows the current stage: as a spinner on a terminal, otherwise as one line per stage. */
export class Progress implements Stages {
  #spinner: Ora | undefined;
  #stage = '';
  #shown = '';
  #cut = (text: string, _columns: number) => text;

  constructor(readonly output: Output) {}

  async stage(text: string): Promise<void> {
    if (this.output.isQuiet || text === this.#stage) return;
    this.#stage = text;
    if (!this.isShown) return this.output.note(text);
    await this.#open();
    this.#show(text);
  }

  update(detail: string): void {
    this.#show(`${this.#stage} ${detail}`);
  }

  transferred(done: number, total: number | undefined): void {
    if (!total) {
      this.update(formatBytes(done));
      return;
    }
    const part = Math.min(1, done / total);
    const [full, empty] = isUnicode(this.output.system.env) ? ['█', '░'] : ['#', '.'];
    const bar = full.repeat(Math.round(part * 20)).padEnd(20, empty);
    this.update(`${bar} ${Math.floor(part * 100)}% of ${formatBytes(total)}`);
  }

  /** One line at any width: lines that a spinner wraps over would be erased with those above. */
  #show(text: string): void {
    this.#shown = text;
    const { columns = 80 } = this.output.system.stderr;
    const line = this.#cut(this.output.mask(oneLine(text)), Math.max(1, columns - SPINNER_WIDTH));
    if (this.#spinner) this.#spinner.text = toLocale(this.output.system.env, line);
  }

  readonly #fitToColumns = (): void => {
    if (this.isShown) this.#show(this.#shown);
    else this.end();
  };

  end(): void {
    this.output.system.stderr.removeListener('resize', this.#fitToColumns);
    this.#spinner?.stop();
    this.#spinner = undefined;
    this.output.spinner = undefined;
    this.#stage = '';
  }

  [Symbol.dispose](): void {
    this.end();
  }

  /** Whether there is a spinner. */
  get isShown(): boolean {
    const { stderr, env } = this.output.system;
    // A terminal without a size has 0 columns, and ora divides by the number of columns.
    return stderr.isTTY === true && stderr.columns !== 0 && !isPlain(env) && !env.CI;
  }

  async #open(): Promise<Ora> {
    if (this.#spinner) return this.#spinner;
    const [{ default: ora }, { cutText }] = await Promise.all([import('ora'), import('./width.js')]);
    this.#cut = cutText;
    const stream = this.output.system.stderr as NodeJS.WriteStream;
    // discardStdin would disable Ctrl-C.
    const spinner = isUnicode(this.output.system.env) ? 'dots' : 'line';
    this.#spinner = ora({ stream, spinner, discardStdin: false, color: false }).start();
    stream.on('resize', this.#fitToColumns);
    this.output.spinner = this.#spinner;
    return this.#spinner;
  }
}
