import { readSync, writeSync } from 'node:fs';
import type { Worker } from 'node:worker_threads';

// What a program does that limited-child.ts starts: one task a line on standard input, messages on standard output.

let watchdog: Worker | undefined;

/** Answers one task after another, and ends the process once there are no more. */
export async function answerTasks(answer: (task: unknown) => Promise<void>): Promise<void> {
  // Ctrl-C in a terminal reaches all of its processes; the one that started this one decides when it ends.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  const limits = process.argv.slice(2).map(Number);
  if (limits.length > 0) watchdog = await startWatchdog(limits);
  for (let line = readLine(); line !== ''; line = readLine()) {
    watchdog?.postMessage('task');
    await answer(JSON.parse(line));
  }
  process.exit(0);
}

/** Written at once, because what comes next may be the last that this process does. */
export function sendMessage(message: object): void {
  watchdog?.postMessage('step');
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

const LINE_END = 0x0a;

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

/**
 * Ends this process once a task has used too much, or its parent was killed. Only another thread can: the main thread may be
 * busy in a loop.
 */
async function startWatchdog([taskCpuMs, stepCpuMs, residentBytes]: number[]): Promise<Worker> {
  const { Worker } = await import('node:worker_threads');
  const program = `
    const { writeSync } = require('node:fs');
    const { parentPort } = require('node:worker_threads');
    const kill = () => process.kill(process.pid, 'SIGKILL');
    const end = (exceeded) => { writeSync(1, JSON.stringify({ exceeded }) + '\\n'); kill(); };
    const readCpuMs = () => { const { user, system } = process.cpuUsage(); return (user + system) / 1000; };
    const parent = ${process.ppid};
    let task = readCpuMs();
    let step = task;
    parentPort.on('message', (begun) => { step = readCpuMs(); if (begun === 'task') task = step; });
    setInterval(() => {
      const now = readCpuMs();
      if (process.ppid !== parent) kill();
      if (now - task > ${taskCpuMs} || now - step > ${stepCpuMs}) end('time');
      if (process.memoryUsage.rss() > ${residentBytes}) end('memory');
    }, 50);`;
  const worker = new Worker(program, { eval: true, execArgv: [] });
  worker.unref();
  return worker;
}
