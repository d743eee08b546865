import { mkdtempSync } from 'node:fs';
import { installCases } from './cases/install.js';
const scratch = mkdtempSync('/tmp/inst-');
const one = await installCases[0]!.prepare(scratch) as any;
console.log(scratch, process.pid);
await new Promise((r) => setTimeout(r, 45_000));
await one.stop();
