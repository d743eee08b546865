import type { FlagValues } from '../command/command.js';
import type { Connect } from '../connect/clients.js';
import type { ServiceConnector } from '../connect/services.js';
import type { Interruption } from '../terminal/interrupted.js';
import { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';

/** What is needed to publish a pack. */
export interface PublishContext {
  readonly services: ServiceConnector;
  readonly connect: Connect;
  readonly system: System;
  readonly output: Output;
  readonly flags: FlagValues;
  readonly mayAsk: boolean;
  readonly signal: AbortSignal;
  readonly interruption: Pick<Interruption, 'hint'>;
}

/** The context of one of several packs: warnings name its folder, and all else is in the report. */
export function labelContext(context: PublishContext, dir: string): PublishContext {
  return {
    ...context,
    output: new LabelledOutput(context.output, dir),
    interruption: { hint: undefined },
  };
}

class LabelledOutput extends Output {
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
