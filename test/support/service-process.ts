import { startService } from '../../src/service/serve.js';

// A service in a process of its own, for tests that kill or measure one:
// `node --import tsx test/support/service-process.ts <configuration as JSON> [hold-check]`

const [configuration = '{}', hold] = process.argv.slice(2);
const send = (message: object) => process.send?.(message);

// A file that may not grow is a failed write, as a full disk is; writing files atomically resets the signal's handling
// to its default, which ends the process.
process.on('SIGXFSZ', () => {});

const service = await startService(JSON.parse(configuration));

if (hold === 'hold-check') {
  // The check begins and never ends, so that the test can kill it in the middle.
  Object.assign(service.context.storage, {
    borrow: () => {
      send({ checking: true });
      return new Promise(() => {});
    },
  });
}

process.on('message', (message) => {
  if (message === 'memory') send({ maxRss: process.resourceUsage().maxRSS * 1024 });
});
send({ url: service.url, ownerToken: service.ownerToken });
