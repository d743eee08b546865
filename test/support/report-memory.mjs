import { readFileSync, writeFileSync } from 'node:fs';

// Preloaded into a program under test: leaves the most memory it ever held, in bytes, where MEMORY_REPORT says.
process.on('exit', () => writeFileSync(process.env.MEMORY_REPORT, String(readMostMemory())));

/** On Linux the maximum of `getrusage` begins with that of the process that started this one. */
function readMostMemory() {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) * 1024;
}
