import { expect, test } from 'vitest';
import { createLineLog } from '../../../src/service/configuration/log.js';
import { serviceForTest } from '../../support/service.js';

test('a token in the path or the query of a request is not in the log of the service', async () => {
  const token = `regen_pat_${'aB3-'.repeat(10)}xyz`;
  const claims = Buffer.from('{"sub":"ann","aud":"regen"}').toString('base64url');
  const identity = `eyJhbGciOiJSUzI1NiJ9.${claims}.c2lnbmF0dXJl`;
  let written = '';
  const log = createLineLog(Date.now, (line) => {
    written += line;
  });
  const service = await serviceForTest({ logLevel: 'info' }, { log });
  for (const secret of [token, identity]) {
    await fetch(`${service.url}/nodes/${secret}`);
    await fetch(`${service.url}/nodes/${secret}/versions?statuses=${secret}`);
    await fetch(`${service.url}/nowhere/${secret}?token=${secret}`, { headers: { 'x-request-id': secret } });
  }
  await service.stop();
  expect(written).toContain('"path":"/nodes/regen_pat_aB3-****"');
  expect(written).toContain('/nodes/***/versions');
  expect(written).not.toContain(token);
  expect(written).not.toContain(identity);
});
