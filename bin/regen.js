#!/usr/bin/env node
import { fileURLToPath } from 'node:url';
import { setFlagsFromString } from 'node:v8';

// Streams of large files leave short-lived garbage by the megabyte; a young generation that stays small is swept
// before it fills memory, at no cost in time that could be measured.
setFlagsFromString('--semi-space-growth-factor=1');

// The program describes its own errors. Without file handles it cannot load the parts that do so, and the loader
// of modules may report that as an error that nobody awaits.
process.on('uncaughtException', (error) => {
  const isExhausted = ['EMFILE', 'ENFILE'].includes(error?.code);
  const message = 'error: Too many files are open; raise the limit (ulimit -n) and try again.';
  process.stderr.write(`${isExhausted ? message : (error?.stack ?? error)}\n`);
  process.exit(isExhausted ? 7 : 1);
});

const { run } = await import('../dist/cli.js');
process.exitCode = await run(process.argv.slice(2), fileURLToPath(import.meta.url));
