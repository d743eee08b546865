import type { Invocation } from '../command/invocation.js';
import { Output } from '../terminal/output.js';

/** What publishing a pack needs of the run it is part of. */
export type Publishing = Pick<
  Invocation,
  | 'args'
  | 'connect'
  | 'flags'
  | 'mayAsk'
  | 'output'
  | 'resumeHint'
  | 'service'
  | 'signal'
  | 'system'
  | 'target'
  | 'text'
>;

/** The same run for one of several packs: what it warns of is said with its folder, and all else left to the report. */
export function publishingOf(whole: Invocation, dir: string): Publishing {
  const { args, flags, mayAsk, signal, system, target } = whole;
  return {
    ...{ args, flags, mayAsk, signal, system, target, resumeHint: undefined },
    output: new OneOfSeveral(whole.output, dir),
    connect: (url, token) => whole.connect(url, token),
    service: (to) => whole.service(to),
    text: (flag) => whole.text(flag),
  };
}

class OneOfSeveral extends Output {
  constructor(
    readonly whole: Output,
    readonly label: string,
  ) {
    super(whole.system, whole.mode);
  }

  override async note(): Promise<void> {}

  override warn(text: string): Promise<void> {
    return this.whole.warn(`${this.label}: ${text}`);
  }
}
