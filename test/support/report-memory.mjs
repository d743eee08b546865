import { writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// Preloaded into a program under test: leaves the most memory it ever held, in bytes, where MEMORY_REPORT says.
// On a busy machine garbage is collected late, which says nothing of what the program needs, so it is collected
// often here.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc');
setInterval(collectGarbage, 250).unref();
process.on('exit', () => {
  writeFileSync(process.env.MEMORY_REPORT, String(process.resourceUsage().maxRSS * 1024));
});
