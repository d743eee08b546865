// Ends the process, as kill -9 would, just before its n-th write below the folders of a test:
// `DIE_AT=3 DIE_IN=/tmp/a:/tmp/b node --import ./test/support/die-at-write.mjs …`
import { createRequire, syncBuiltinESMExports } from 'node:module';

const fs = createRequire(import.meta.url)('node:fs');
const folders = (process.env.DIE_IN ?? '').split(':');
let left = Number(process.env.DIE_AT ?? 0);

function counted(object, name, isWrite = () => true) {
  const real = object[name];
  object[name] = function (...args) {
    const ours = folders.some((folder) => args.slice(0, 2).some((arg) => String(arg).startsWith(folder)));
    if (ours && isWrite(args)) {
      left -= 1;
      if (left === 0) process.kill(process.pid, 'SIGKILL');
    }
    return real.apply(this, args);
  };
}

const toWrite = ([, flags]) => typeof flags === 'string' && /[wa]/.test(flags);
for (const name of ['renameSync', 'linkSync', 'writeFileSync']) counted(fs, name);
counted(fs, 'openSync', toWrite);
counted(fs, 'createWriteStream');
for (const name of ['rename', 'link']) counted(fs.promises, name);
syncBuiltinESMExports();
