import { once, setMaxListeners } from 'node:events';
import type { Text } from '../../contract/schema/message.js';
import { exitCodes } from './failure.js';
import type { System } from './system.js';

/** Ctrl-C and termination of a command. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** How to resume later; printed if the command is interrupted, or a response is lost. */
  hint: Text | undefined;
  /** Whether the service works on something that goes on without the command. */
  hasBegun: boolean;
  /** Stops listening, and leaves the signals to other listeners. */
  ignore(): void;
}

/**
 * The interruption of a command. Listening replaces what signals do by default, and so keeps them from ending a process
 * that is busy. It therefore begins when the command runs, and pauses while there is work that may never end.
 */
export class CommandInterruption implements Interruption {
  /** Whether signals are left to another program for now, such as a pager. */
  isIgnored = () => false;
  exitCode: number = exitCodes.interrupted;
  readonly #system: System;
  hint: Text | undefined;
  hasBegun = false;
  readonly #controller = new AbortController();
  readonly signal = this.#controller.signal;
  #stop: (() => void) | undefined;

  constructor(system: System) {
    this.#system = system;
    // Each request, task and download at the same time listens.
    setMaxListeners(0, this.signal);
  }

  ignore(): void {
    this.#stop?.();
    this.#stop = undefined;
  }

  /** Runs synchronous work that may never end; a signal then ends the process. */
  runBusy<Result>(work: () => Result): Result {
    const wasListening = this.#stop !== undefined;
    this.ignore();
    try {
      return work();
    } finally {
      if (wasListening) this.listen();
    }
  }

  listen(): void {
    this.#stop ??= this.#system.onSignal((signal) => this.#interrupt(signal));
  }

  /** The first signal aborts the command; a second one ends the process. */
  #interrupt(signal: NodeJS.Signals): void {
    if (this.isIgnored()) return;
    this.exitCode = signal === 'SIGTERM' ? exitCodes.terminated : exitCodes.interrupted;
    if (this.signal.aborted) this.#system.exit(this.exitCode);
    this.#controller.abort();
    // What reads standard input, prompts included, does not wait for its end.
    this.#system.stdin.destroy();
  }
}

export async function waitForAbort(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort');
}

/** Rejects with the signal's reason when it is aborted. */
export async function rejectOnAbort(signal: AbortSignal): Promise<never> {
  await waitForAbort(signal);
  throw signal.reason;
}
