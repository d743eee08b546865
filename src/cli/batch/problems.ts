import { FlowError } from '../../flows/flow-error.js';
import type { FailureDetail } from '../command/request.js';
import { Failure } from '../terminal/failure.js';

/** More problems are counted, but not shown. */
const MAX_SHOWN = 50;

/** Collects the problems of a file, however many there are. */
export class Problems {
  #count = 0;
  readonly #shown: FailureDetail[] = [];

  readonly add = (problem: FailureDetail): void => {
    this.#count += 1;
    if (this.#shown.length < MAX_SHOWN) this.#shown.push(problem);
  };

  /** Adds each problem of a failure, with its line. */
  addFrom(line: number, error: unknown): void {
    if (!(error instanceof Failure) && !(error instanceof FlowError)) throw error;
    const { details = [] } = error.facts;
    if (details.length === 0) this.add({ path: `line ${line}`, message: error.message });
    for (const { path, message } of details) this.add({ path: `line ${line} ${path}`, message });
  }

  /** @throws Failure with the first of them, if there are any */
  throwIfAny(file: string): void {
    const [first] = this.#shown;
    if (!first) return;
    const hidden = this.#count - this.#shown.length;
    const message =
      this.#count === 1
        ? `${file}, ${first.path} ${first.message.replace(/\.$/, '')}; nothing was sent.`
        : `${this.#count} problems in ${file}; nothing was sent.`;
    throw new Failure(message, {
      code: 'invalid_request',
      details: this.#shown,
      ...(hidden > 0 && { hint: `${hidden} more are not shown.` }),
    });
  }
}
