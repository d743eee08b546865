// Loaded with --require: writes on stderr what the program has loaded, when it ends.
const { statSync, writeSync } = require('node:fs');
const Module = require('node:module');

const listParts = () => process.moduleLoadList.flatMap((name) => name.match(/^NativeModule (.*)/)?.[1] ?? []);
let early;

/** Notes what is loaded at the first change of a flag of the engine. */
function watchFlags(v8) {
  const { setFlagsFromString } = v8;
  v8.setFlagsFromString = (flag) => {
    early ??= new Set(listParts());
    setFlagsFromString(flag);
  };
}

const load = Module._load;
Module._load = (id, ...rest) => {
  const loaded = load(id, ...rest);
  if (id !== 'node:v8') return loaded;
  Module._load = load;
  watchFlags(loaded);
  return loaded;
};

process.on('exit', () => {
  const files = Object.keys(require.cache).filter((path) => path !== __filename);
  const bytes = files.reduce((sum, path) => sum + statSync(path).size, 0);
  const parts = listParts();
  const late = early ? parts.filter((name) => !early.has(name)) : [];
  writeSync(2, `\nloaded ${JSON.stringify({ files, bytes, parts, late })}\n`);
});
