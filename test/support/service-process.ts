import { readFileSync } from 'node:fs';
import { startService } from '../../src/service/serve.js';

// A service in its own process, for tests that kill or measure one:
// `node dist/test/service-process.js <configuration as JSON> [hold-check]`

const [configuration = '{}', hold] = process.argv.slice(2);
const sendToParent = (message: object) => process.send?.(message);

// Without this, exceeding the file size limit would end the process instead of failing the write, because
// writing files atomically resets the handling of the signal.
process.on('SIGXFSZ', () => {});

const service = await startService(JSON.parse(configuration));

if (hold === 'hold-check') {
  // The check never ends, so that the test can kill the process during it.
  Object.assign(service.context.storage, {
    borrow: () => {
      sendToParent({ checking: true });
      return new Promise(() => {});
    },
  });
}

process.once('SIGTERM', () => void service.stop().then(() => process.exit()));
process.on('message', async (message) => {
  if (message === 'memory') sendToParent({ maxRss: readMostMemory() });
  // A token for a user: { sub, email }.
  else sendToParent({ token: await service.signFor(message as Parameters<typeof service.signFor>[0]) });
});
sendToParent({ url: service.url, ownerToken: service.ownerToken, metricsUrl: service.metricsUrl });

/** Bytes. On Linux the maximum of `getrusage` begins with that of the process that started this one. */
function readMostMemory(): number {
  if (process.platform !== 'linux') return process.resourceUsage().maxRSS * 1024;
  return Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) * 1024;
}
