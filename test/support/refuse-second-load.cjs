// Loaded with --require: ends the process when it evaluates a file for the second time.
const { writeSync } = require('node:fs');
const Module = require('node:module');
const vm = require('node:vm');

const evaluated = new Set();
function note(file) {
  if (evaluated.has(file)) {
    writeSync(2, `\n${file} was evaluated twice.\n`);
    process.exit(70);
  }
  evaluated.add(file);
}

const { _compile } = Module.prototype;
Module.prototype._compile = function (content, file, ...rest) {
  note(file);
  return _compile.call(this, content, file, ...rest);
};

// What takes kept code.
vm.Script = class extends vm.Script {
  constructor(source, options) {
    if (options?.filename) note(options.filename);
    super(source, options);
  }
};
