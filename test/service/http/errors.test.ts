import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/service/operation/context.js';
import { publishBody, startRegistry } from '../../support/registry.js';

const path = '/publishers/acme/nodes/broken/versions';

async function createFailingApp(error: Error) {
  const logged: unknown[] = [];
  const log: Context['log'] = (...entry) => logged.push(entry);
  const registry = await startRegistry({}, { log });
  const { enqueue } = registry.service.context.queue;
  const repair = () => Object.assign(registry.service.context.queue, { enqueue });
  Object.assign(registry.service.context.queue, { enqueue: () => Promise.reject(error) });
  const publish = (key: string) =>
    registry.as('ann', 'POST', path, publishBody(registry.tokens.pat, '1.0.0'), { 'idempotency-key': key });
  return { ...registry, logged, publish, repair };
}

describe("the service's own failure", () => {
  it('shows the caller only a request id, under which the log has the details', async () => {
    const { publish, logged, service, tokens } = await createFailingApp(new Error('hidden detail'));
    try {
      const { status, body, headers } = await publish('f1');
      expect([status, body.error, headers.get('idempotency-key')]).toEqual([500, 'internal', 'f1']);
      expect(JSON.stringify(body)).not.toContain('hidden');
      const log = JSON.stringify(logged);
      for (const received of ['hidden detail', headers.get('x-request-id') as string])
        expect(log).toContain(received);
      for (const secret of [tokens.pat, tokens.ann]) expect(log).not.toContain(secret);
    } finally {
      await service.stop();
    }
  });

  it('changes nothing, so that the same request succeeds later', async () => {
    const { as, publish, repair, service } = await createFailingApp(new Error('once'));
    try {
      expect((await publish('f2')).status).toBe(500);
      expect((await as('ann', 'GET', '/nodes/broken')).status).toBe(404);
      repair();
      const { status, headers } = await publish('f2');
      expect([status, headers.get('idempotent-replayed')]).toEqual([201, null]);
    } finally {
      await service.stop();
    }
  });

  it('asks to try again if a resource ran out', async () => {
    const { publish, service } = await createFailingApp(
      Object.assign(new Error('full'), { code: 'SQLITE_FULL' }),
    );
    try {
      const { status, body, headers } = await publish('f3');
      expect([status, body.error, headers.get('retry-after')]).toEqual([503, 'unavailable', '1']);
    } finally {
      await service.stop();
    }
  });
});
