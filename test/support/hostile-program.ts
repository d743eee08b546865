import { writeSync } from 'node:fs';
import { answerTasks, sendMessage } from '../../src/disk/child-program.js';

// A program whose tasks do what a hostile file could make a decoder do.

const held: Buffer[] = [];

const behaviors: Readonly<Record<string, () => unknown>> = {
  answer: () => sendMessage({ result: process.pid }),
  environment: () => sendMessage({ result: Object.keys(process.env) }),
  loop: () => {
    for (;;);
  },
  // Never returns to the event loop, but says now and then that it is alive.
  chatter: () => {
    for (let at = 0; ; at += 1) if (at % 1e7 === 0) sendMessage({ part: 0 });
  },
  'loop in a thread': async () => {
    const { Worker } = await import('node:worker_threads');
    new Worker('for (;;);', { eval: true });
    return new Promise(() => {});
  },
  allocate: () => {
    for (;;) held.push(Buffer.alloc(16 * 1024 ** 2, 1));
  },
  'allocate on the heap': () => {
    const objects: object[] = [];
    for (;;) objects.push({ at: objects.length, more: [objects.length] });
  },
  'print one line': () => {
    for (;;) writeSync(1, 'x'.repeat(64 * 1024));
  },
  'print lines': () => {
    for (;;) writeSync(1, 'no message of ours\n'.repeat(1000));
  },
  abort: () => process.abort(),
  exit: () => process.exit(3),
  wait: () => new Promise(() => {}),
  fail: () => sendMessage({ failed: true }),
};

void answerTasks(async (task) => {
  sendMessage({ part: 0 });
  await behaviors[(task as { readonly does: string }).does]?.();
});
