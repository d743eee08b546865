import { expect, test } from 'vitest';
import { ask, publisherForTest, publishFiles, serviceForTest } from '../../support/service.js';

const python = (names: string) => `
class Greet:
    RETURN_TYPES = ()
    FUNCTION = "greet"
    CATEGORY = "pack"
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {}}

NODE_CLASS_MAPPINGS = {${names}}
`;
const both = python('"Greet": Greet, "Wave": Greet');
const one = python('"Greet": Greet');

async function publisherWith(semver: 'off' | 'warn' | 'enforce') {
  const service = await serviceForTest({ registry: { semver } });
  const publisher = await publisherForTest(service);
  const publish = async (version: string, source: string) => {
    const { id, status, status_reason } = await publishFiles(publisher, version, { '__init__.py': source });
    return { id, status: status.replace('NodeVersionStatus', ''), reason: status_reason };
  };
  return { service, publisher, publish };
}

const REASON =
  'Workflows saved with 1.0.0 break, which the version number does not say:\nWave: node removed (workflows that use it no longer load)';

test.each([
  ['off', { status: 'Active', reason: undefined }],
  ['warn', { status: 'Active', reason: REASON }],
  ['enforce', { status: 'Flagged', reason: REASON }],
] as const)('with registry.semver %s, a patch release without a node is %j', async (semver, expected) => {
  const { publish } = await publisherWith(semver);
  expect(await publish('1.0.0', both)).toMatchObject({ status: 'Active' });
  expect(await publish('1.0.1', one)).toMatchObject(expected);
});

test('a release is compared with the Active one below it, and an admin may make it Active', async () => {
  const { publisher, publish } = await publisherWith('enforce');
  await publish('1.0.0', both);
  await publish('2.0.0', one);
  // A fix of the first one, which is not the latest.
  expect(await publish('1.0.1', both)).toMatchObject({ status: 'Active' });
  expect(await publish('2.0.1', one)).toMatchObject({ status: 'Active' });
  const flagged = await publish('1.0.2', one);
  expect(flagged.status).toBe('Flagged');
  // Flagged ones are not what workflows were saved with.
  expect(await publish('1.0.3', both)).toMatchObject({ status: 'Active', reason: undefined });
  const { url, ownerToken } = publisher;
  const changed = await ask(`${url}/admin/nodes/pack/versions/1.0.2`, {
    method: 'PUT',
    token: ownerToken,
    json: { status: 'NodeVersionStatusActive', status_reason: 'announced' },
  });
  expect(changed.status).toBe(200);
});

test('a release whose definitions cannot all be read is not flagged for those that are missing', async () => {
  const { publish } = await publisherWith('enforce');
  await publish('1.0.0', both);
  expect(await publish('1.0.1', python('"Greet": Greet, **more()'))).toMatchObject({ status: 'Active' });
});
