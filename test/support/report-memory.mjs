import { writeFileSync } from 'node:fs';

// Preloaded into a program under test: leaves the most memory it ever held, in bytes, where MEMORY_REPORT says.
process.on('exit', () => {
  writeFileSync(process.env.MEMORY_REPORT, String(process.resourceUsage().maxRSS * 1024));
});
