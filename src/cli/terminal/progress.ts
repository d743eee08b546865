import type { Ora } from 'ora';
import type { Stages } from '../../flows/publish/report.js';
import { formatBytes } from '../../wire/format-bytes.js';
import type { Output } from './output.js';
import { oneLine } from './text.js';

/** Shows the current stage: as a spinner on a terminal, otherwise as one line per stage. */
export class Progress implements Stages {
  #spinner: Ora | undefined;
  #stage = '';

  constructor(readonly output: Output) {}

  /** Starts a stage. */
  async stage(text: string): Promise<void> {
    if (this.output.mode.quiet || text === this.#stage) return;
    this.#stage = text;
    if (!this.#isShown()) return this.output.note(text);
    const spinner = await this.#open();
    spinner.text = oneLine(text);
  }

  /** Shows the progress of the stage. */
  update(detail: string): void {
    if (this.#spinner) this.#spinner.text = oneLine(`${this.#stage} ${detail}`);
  }

  /** Shows the number of transferred bytes. */
  transferred(done: number, total: number | undefined): void {
    if (!total) {
      this.update(formatBytes(done));
      return;
    }
    const part = Math.min(1, done / total);
    const bar = '█'.repeat(Math.round(part * 20)).padEnd(20, '░');
    this.update(`${bar} ${Math.floor(part * 100)}% of ${formatBytes(total)}`);
  }

  readonly #endWithoutColumns = (): void => {
    if (!this.#isShown()) this.end();
  };

  end(): void {
    this.output.system.stderr.removeListener('resize', this.#endWithoutColumns);
    this.#spinner?.stop();
    this.#spinner = undefined;
    this.output.spinner = undefined;
    this.#stage = '';
  }

  #isShown(): boolean {
    const { stderr, env } = this.output.system;
    // A terminal without a size has 0 columns, and ora divides by the number of columns.
    return stderr.isTTY === true && stderr.columns !== 0 && env.TERM !== 'dumb' && !env.CI;
  }

  async #open(): Promise<Ora> {
    if (this.#spinner) return this.#spinner;
    const { default: ora } = await import('ora');
    const stream = this.output.system.stderr as NodeJS.WriteStream;
    // discardStdin would disable Ctrl-C.
    this.#spinner = ora({ stream, discardStdin: false, color: false }).start();
    stream.on('resize', this.#endWithoutColumns);
    this.output.spinner = this.#spinner;
    return this.#spinner;
  }
}
