import { describe, expect, it } from 'vitest';
import { testDatabase } from '../support/postgres.js';
import { explainMissingPostgres } from '../support/postgres-server.js';
import { runServices } from './services.js';

// `npm run simulate -- --services 3 --tasks N` tries more.

describe.skipIf(!testDatabase || explainMissingPostgres(false))(
  'services that are killed with their database',
  () => {
    it('keep what they acknowledged, and do everything once', async () => {
      const summary = await runServices({ services: 2, tasks: 40, seed: 3 });
      expect(summary).toMatch(/^2 services, .*; 40 tasks, 4 versions, /);
    });

    it('are checked for a second signing key', async () => {
      const row = {
        id: 'second',
        use: 'token',
        secret: '{}',
        created_at: '2026-01-01T00:00:00.000Z',
      } as const;
      const run = runServices({
        services: 1,
        tasks: 1,
        seed: 1,
        spoil: (database) => database.insertInto('keys').values(row).execute(),
      });
      await expect(run).rejects.toThrow('keys: owner,statement,token,token,url');
    });
  },
);
