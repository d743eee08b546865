import { setFlagsFromString } from 'node:v8';
import { parentPort, workerData } from 'node:worker_threads';
import { type CodeReport, codeReader, readCode } from './code.js';
import { type Inspection, inspectArchive } from './read-archive.js';
import type { Task } from './thread.js';

// V8 puts this back for the whole program whenever a thread starts; bin/regen.js says what it is for.
setFlagsFromString('--semi-space-growth-factor=1');

// A thread of its own: started by thread.ts with one task, whose result is its one message.
parentPort?.postMessage(await result(workerData as Task));

async function result(task: Task): Promise<CodeReport | (Inspection & { code?: CodeReport })> {
  if (task.kind === 'code') return readCode(task.files);
  if (!task.withCode) return inspectArchive(task.path, task.limits);
  const reader = await codeReader();
  const inspection = await inspectArchive(task.path, task.limits, reader);
  return inspection.ok ? { ...inspection, code: reader.finish() } : inspection;
}
