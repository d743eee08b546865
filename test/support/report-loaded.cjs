// Loaded with --require: writes on stderr what the program has loaded, when it ends.
const { statSync, writeSync } = require('node:fs');

process.on('exit', () => {
  const files = Object.keys(require.cache).filter((path) => path !== __filename);
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const parts = process.moduleLoadList.flatMap((name) => name.match(/^NativeModule (.*)/)?.[1] ?? []);
  writeSync(2, `\nloaded ${JSON.stringify({ files, bytes, parts })}\n`);
});
