import { expect, it } from 'vitest';
import { runProxied } from '../simulate/proxied.js';
import { explainMissingPostgres } from '../support/postgres-server.js';

// `npm run simulate -- --proxied` also waits for the jobs of the killed service.

it.skipIf(explainMissingPostgres(false))(
  'behind nginx as in the examples, no request fails while one of two services is started again, and only those in flight when it is killed',
  async () => {
    const summary = await runProxied({ clients: 16, requests: 300, waitsForJobs: false });
    expect(summary).toMatch(/requests during a restart, none failed; \d+ during a kill/);
  },
);
