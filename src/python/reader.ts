import { readSync, writeSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';
import type { CodeReport } from './code-report.js';
import { createCodeReader, readCode } from './read-code.js';
import type { ReaderMessage, ReaderTask } from './reader-child.js';
import type { PackInspection } from './reader-process.js';

// The program that reader-child.ts starts: one task a line on standard input, messages on standard output.

// Ctrl-C in a terminal reaches all of its processes; the one that started this one decides when it ends.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);

const LINE_END = 0x0a;

const [packCpuMs, residentBytes] = process.argv.slice(2).map(Number);
let watchdog: Worker | undefined;

void answerAll();

async function answerAll(): Promise<void> {
  if (packCpuMs !== undefined && residentBytes !== undefined)
    watchdog = await startWatchdog(packCpuMs, residentBytes);
  for (let line = readLine(); line !== ''; line = readLine()) await answer(line);
  process.exit(0);
}

async function answer(line: string): Promise<void> {
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

async function runTask(task: ReaderTask): Promise<CodeReport | PackInspection> {
  const onStep = (at: string | undefined) => sendMessage({ at: at ?? null });
  if (task.kind === 'code') return readCode(task.files, { ...task.reading, onStep });
  const { inspectArchive } = await import('../pack/read-archive.js');
  const reader = task.reading && (await createCodeReader({ ...task.reading, onStep }));
  const inspection = await inspectArchive(task.path, task.limits, reader);
  if (!inspection.ok) return inspection;
  return { ok: true, tree: inspection.tree, ...(reader && { code: reader.finish() }) };
}

/**
 * Waits for the next task, which the parent sends after the answer to the one before. Streams are not used, because
 * Node.js compiles their modules again in a process with limits.
 * @returns empty at the end of the input
 */
function readLine(): string {
  const parts: Buffer[] = [];
  for (;;) {
    const part = Buffer.allocUnsafe(64 * 1024);
    const length = readInput(part);
    parts.push(part.subarray(0, length));
    if (length === 0 || part[length - 1] === LINE_END) return Buffer.concat(parts).toString();
  }
}

function readInput(part: Buffer): number {
  try {
    return readSync(0, part);
  } catch (error) {
    // Windows reports the end of a pipe as an error.
    if ((error as NodeJS.ErrnoException).code === 'EOF') return 0;
    throw error;
  }
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
async function startWatchdog(packCpuMs: number, residentBytes: number): Promise<Worker> {
  const { Worker } = await import('node:worker_threads');
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
