import type { Ora } from 'ora';
import type { Output } from './output.js';
import { formatBytes, oneLine } from './text.js';

/** Who hears what goes on right now. */
export type Stages = Pick<Progress, 'stage' | 'update' | 'transferred' | 'end'>;

/** What goes on right now, for a person: a spinner on a terminal, a line a stage elsewhere. */
export class Progress {
  #spinner: Ora | undefined;
  #stage = '';

  constructor(readonly output: Output) {}

  /** Names the stage that begins. */
  async stage(text: string): Promise<void> {
    if (this.output.mode.quiet || text === this.#stage) return;
    this.#stage = text;
    if (!this.#isShown()) return this.output.note(text);
    const spinner = await this.#open();
    spinner.text = oneLine(text);
  }

  /** Adds to the stage how far it is. */
  update(detail: string): void {
    if (this.#spinner) this.#spinner.text = oneLine(`${this.#stage} ${detail}`);
  }

  /** Adds to the stage how many bytes of how many are done. */
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
    // A terminal without a size has 0 columns, and ora would divide by them.
    return stderr.isTTY === true && stderr.columns !== 0 && env.TERM !== 'dumb' && !env.CI;
  }

  async #open(): Promise<Ora> {
    if (this.#spinner) return this.#spinner;
    const { default: ora } = await import('ora');
    const stream = this.output.system.stderr as NodeJS.WriteStream;
    // discardStdin would swallow Ctrl-C.
    this.#spinner = ora({ stream, discardStdin: false, color: false }).start();
    stream.on('resize', this.#endWithoutColumns);
    this.output.spinner = this.#spinner;
    return this.#spinner;
  }
}
