#!/usr/bin/env node
// The program describes its own errors. Without file handles it cannot load the parts that do so, and the loader
// of modules may report that as an error that nothing awaits.
process.on('uncaughtException', (error) => {
  const isExhausted = ['EMFILE', 'ENFILE'].includes(error?.code);
  const message = 'error: Too many files are open; raise the limit (ulimit -n) and try again.';
  // An error may quote text of a service, which must not control the terminal.
  const stack = String(error?.stack ?? error).replace(/[^\P{C}\n]/gu, '?');
  process.stderr.write(`${isExhausted ? message : stack}\n`);
  process.exit(isExhausted ? 7 : 1);
});

require('../dist/cli.cjs')
  .run(process.argv.slice(2), __filename)
  .then((code) => {
    process.exitCode = code;
  });
