import { expect, it } from 'vitest';
import { createZip } from '../../support/create-zip.js';
import { publishBody, type Registry, registryForFile } from '../../support/registry.js';
import { uploadArchive } from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const registry = registryForFile();

const SOUND = 'NODE_CLASS_MAPPINGS = {}\n';
const FLAGGED = `import base64\n${SOUND}exec(base64.b64decode("cHJpbnQoMSk="))\n`;

/** Stages a version, and waits for its verdict. */
async function stage(nodeId: string, version: string, node: object, source = SOUND) {
  const { ok, tokens } = registry();
  const body = { ...publishBody(tokens.pat, version, { node }), stage: true };
  const { signedUrl } = await ok('ann', 'POST', `/publishers/acme/nodes/${nodeId}/versions`, body);
  await uploadArchive(signedUrl, await createZip({ '__init__.py': source }));
  const path = `/publishers/acme/nodes/${nodeId}/versions/${version}`;
  await waitFor(async () =>
    expect(
      (await ok('ann', 'GET', `/nodes/${nodeId}/versions/${version}`)).host_node_extract_status,
    ).not.toBe('pending'),
  );
  return { path, setStatus: (status: string) => setStatus(registry(), nodeId, version, status) };
}

function setStatus({ ok }: Registry, nodeId: string, version: string, status: string) {
  const path = `/admin/nodes/${nodeId}/versions/${version}`;
  return ok('admin', 'PUT', path, { status: `NodeVersionStatus${status}`, status_reason: 'x' });
}

it('shows of a new node only its id until its first version is approved', async () => {
  const { ok } = registry();
  const id = `new-${Date.now()}`;
  const node = { name: 'Claimed', description: 'Not approved', tags: [`tag-${id}`] };
  const { path } = await stage(id, '1.0.0', node);
  const before = await ok('guest', 'GET', `/nodes/${id}`);
  expect([before.name, before.description, before.tags]).toEqual([id, undefined, undefined]);
  expect((await ok('guest', 'GET', `/nodes?search=tag-${id}`)).total).toBe(0);
  await ok('ann', 'POST', `${path}/approve`);
  expect(await ok('guest', 'GET', `/nodes/${id}`)).toMatchObject(node);
});

it('applies what a flagged version says of its node once, when an admin makes it Active', async () => {
  const { ok } = registry();
  const id = `flagged-${Date.now()}`;
  const { setStatus } = await stage(id, '1.0.0', { description: 'Staged' }, FLAGGED);
  expect((await ok('guest', 'GET', `/nodes/${id}`)).description).toBeUndefined();
  await setStatus('Active');
  expect((await ok('guest', 'GET', `/nodes/${id}`)).description).toBe('Staged');
  await ok('ann', 'PUT', `/publishers/acme/nodes/${id}`, { description: 'Newer' });
  await setStatus('Flagged');
  await setStatus('Active');
  expect((await ok('guest', 'GET', `/nodes/${id}`)).description).toBe('Newer');
});
