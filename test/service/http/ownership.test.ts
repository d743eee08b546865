import { describe, expect, it } from 'vitest';
import { getOperation } from '../../../src/contract/index.js';
import type { Route } from '../../../src/service/http/concern.js';
import { createOwnership } from '../../../src/service/http/ownership.js';
import { registryForFile } from '../../support/registry.js';

const registry = registryForFile();

describe('a path that names the publisher of a node though the operation does not', () => {
  const { applies, onRequest } = createOwnership({} as never);
  const route = (name: string, path: string) => ({ operation: getOperation(name), path }) as Route;

  it('is the only one that is checked', () => {
    expect(onRequest).toBeDefined();
    const own = getOperation('node.update').path;
    expect(applies?.(route('node.update', own))).toBe(false);
    expect(applies?.(route('admin.node.set', '/admin/nodes/{nodeId}'))).toBe(false);
    expect(applies?.(route('admin.node.set', '/publishers/{publisherId}/nodes/{nodeId}/ban'))).toBe(true);
  });

  it('is not found under another publisher', async () => {
    const { ok, service } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'owned', name: 'x' });
    const ownership = createOwnership(service.context.database);
    const check = (publisherId: string) =>
      ownership.onRequest?.({ params: { publisherId, nodeId: 'owned' } } as never, {} as never, {} as never);
    await check('acme');
    await expect(check('other')).rejects.toThrow('The publisher other has no node owned.');
  });
});
