import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { type CodeReport, codeReader, readCode } from './code.js';
import { inspectArchive } from './read-archive.js';
import type { InspectionWithCode, Message, Task } from './thread.js';

// V8 puts this back for the whole program whenever a thread starts; bin/regen.js says what it is for.
setFlagsFromString('--semi-space-growth-factor=1');

// A thread of its own: started by thread.ts with one task. It says at what it is, so that it can be known what ended it.
const say = (message: Message) => parentPort?.postMessage(message);
say({ result: await result(workerData as Task) });

async function result(task: Task): Promise<CodeReport | InspectionWithCode> {
  const onStep = (at: string | undefined) => say({ at });
  if (task.kind === 'code') return readCode(task.files, { ...task.reading, onStep });
  if (!task.reading) return inspectArchive(task.path, task.limits);
  const reader = await codeReader({ ...task.reading, onStep });
  const inspection = await inspectArchive(task.path, task.limits, reader);
  return inspection.ok ? { ...inspection, code: reader.finish() } : inspection;
}
