import { answerTasks, sendMessage } from '../disk/child-program.js';
import { ReadmeReader } from '../pack/readme.js';
import type { CodeReport } from './code-report.js';
import { createCodeReader, readCode } from './read-code.js';
import type { ReaderMessage, ReaderTask } from './reader-child.js';
import type { PackInspection } from './reader-process.js';

// The program that reads packs, in a process with limits.
void answerTasks(async (task) => {
  send({ at: null });
  try {
    send({ result: await runTask(task as ReaderTask) });
  } catch (error) {
    const message = String(error);
    // The parser says "Aborted(" when its memory is spent, and is of no use after that.
    const isMemory = /Aborted\(|allocation failed/i.test(message);
    send({ failed: isMemory ? 'memory' : 'other', message });
    process.exit(0);
  }
});

function send(message: ReaderMessage): void {
  sendMessage(message);
}

async function runTask(task: ReaderTask): Promise<CodeReport | PackInspection> {
  const onStep = (at: string | undefined) => send({ at: at ?? null });
  if (task.kind === 'code') return readCode(task.files, { ...task.reading, onStep });
  const { inspectArchive } = await import('../pack/read-archive.js');
  const reader = task.reading && (await createCodeReader({ ...task.reading, onStep }));
  const readme = new ReadmeReader(reader);
  const inspection = await inspectArchive(task.path, task.limits, readme);
  if (!inspection.ok) return inspection;
  return { ok: true, tree: inspection.tree, readme: readme.text, ...(reader && { code: reader.finish() }) };
}
