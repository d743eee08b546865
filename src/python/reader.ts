import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setFlagsFromString } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { inspectArchive } from '../pack/read-archive.js';
import type { CodeReport } from './code-report.js';
import { createCodeReader, readCode } from './read-code.js';
import type { ReaderMessage, ReaderTask } from './reader-child.js';
import type { PackInspection } from './reader-process.js';

// The program that reader-child.ts starts: one task a line on standard input, messages on standard output.

// Ctrl-C in a terminal reaches all of its processes; the one that started this one decides when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

// The parser is WebAssembly, and optimizing it takes longer than reading a pack of less than a megabyte.
setFlagsFromString('--wasm-tiering-budget=100000000');

const [packCpuMs, residentBytes] = process.argv.slice(2).map(Number);
const watchdog =
  packCpuMs !== undefined && residentBytes !== undefined
    ? startWatchdog(packCpuMs, residentBytes)
    : undefined;

for await (const line of createInterface({ input: process.stdin })) {
  watchdog?.postMessage('task');
  sendMessage({ at: null });
  try {
    const result = await runTask(JSON.parse(line) as ReaderTask);
    sendMessage({ result, residentBytes: process.memoryUsage.rss() });
  } catch (error) {
    const message = String(error);
    // The parser says "Aborted(" when its memory is spent, and is of no use after that.
    const isMemory = /Aborted\(|allocation failed/i.test(message);
    sendMessage({ failed: isMemory ? 'memory' : 'other', message });
    process.exit(0);
  }
}
process.exit(0);

async function runTask(task: ReaderTask): Promise<CodeReport | PackInspection> {
  const onStep = (at: string | undefined) => sendMessage({ at: at ?? null });
  if (task.kind === 'code') return readCode(task.files, { ...task.reading, onStep });
  const reader = task.reading && (await createCodeReader({ ...task.reading, onStep }));
  const inspection = await inspectArchive(task.path, task.limits, reader);
  if (!inspection.ok) return inspection;
  return { ok: true, tree: inspection.tree, ...(reader && { code: reader.finish() }) };
}

/** Written at once, because what comes next may be the last that this process does. */
function sendMessage(message: ReaderMessage): void {
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  let written = 0;
  while (written < line.length) {
    try {
      written += writeSync(1, line, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
    }
  }
}

/** Ends this process once a task has used too much, on systems where the parent cannot read its usage; a busy main thread cannot do it. */
function startWatchdog(packCpuMs: number, residentBytes: number): Worker {
  const program = `
    const { writeSync } = require('node:fs');
    const { parentPort } = require('node:worker_threads');
    const end = (exceeded) => { writeSync(1, JSON.stringify({ exceeded }) + '\\n'); process.kill(process.pid, 'SIGKILL'); };
    let before = process.cpuUsage();
    parentPort.on('message', () => { before = process.cpuUsage(); });
    setInterval(() => {
      const { user, system } = process.cpuUsage(before);
      if ((user + system) / 1000 > ${packCpuMs}) end('time');
      if (process.memoryUsage.rss() > ${residentBytes}) end('memory');
    }, 50);`;
  const worker = new Worker(program, { eval: true, execArgv: [] });
  worker.unref();
  return worker;
}
