import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { registryForFile } from '../../support/registry.js';
import { publisherForTest, serviceForTest } from '../../support/service.js';

const registry = registryForFile();

/** A request as it is on the wire: fetch sets headers of its own. */
function sendRequest(url: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: Record<string, string | undefined>; text: string }>(
    (resolve, reject) => {
      const sent = request(url, { headers, method }, (answer) => {
        let text = '';
        answer.setEncoding('utf8').on('data', (part) => {
          text += part;
        });
        answer.on('end', () =>
          resolve({ status: answer.statusCode as number, headers: answer.headers as never, text }),
        );
      });
      sent.on('error', reject).end();
    },
  );
}

describe('a read without a credential', () => {
  it('has the same answer and headers the second time, when it is not read again', async () => {
    const { ok, url } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'read-twice', name: 'Read twice' });
    const [first, second] = [
      await sendRequest(`${url}/nodes/read-twice`),
      await sendRequest(`${url}/nodes/read-twice`),
    ];
    const compared = ({ status, headers: { date, 'x-request-id': id, ...headers }, text }: typeof first) => ({
      status,
      headers,
      text,
    });
    expect(compared(second)).toEqual(compared(first));
    expect(second.headers['x-request-id']).not.toBe(first.headers['x-request-id']);
    expect(second.headers).toMatchObject({ 'cache-control': 'public, max-age=30', vary: 'Authorization' });
    expect(JSON.parse(second.text).name).toBe('Read twice');
  });

  it('is answered with 304 while nothing changed, and in full after the change', async () => {
    const { ok, url } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'unchanged', name: 'Unchanged' });
    const { etag } = (await sendRequest(`${url}/nodes/unchanged`)).headers;
    for (const method of ['GET', 'GET', 'HEAD']) {
      const again = await sendRequest(`${url}/nodes/unchanged`, { 'if-none-match': etag as string }, method);
      expect([again.status, again.text, again.headers.etag]).toEqual([304, '', etag]);
    }
    await ok('ann', 'PUT', '/publishers/acme/nodes/unchanged', { name: 'Changed' });
    const changed = await sendRequest(`${url}/nodes/unchanged`, { 'if-none-match': etag as string });
    expect([changed.status, JSON.parse(changed.text).name]).toEqual([200, 'Changed']);
  });

  it('never has the answer of a caller with one, and a caller with one never has its answer', async () => {
    const { ok, as, url } = registry();
    await ok('ann', 'POST', '/publishers/acme/nodes', { id: 'hidden', name: 'Hidden' });
    await ok('ann', 'DELETE', '/publishers/acme/nodes/hidden');
    for (const caller of ['guest', 'ann', 'guest', 'ann'] as const) {
      const { status, headers } = await as(caller, 'GET', '/nodes/hidden');
      expect([status, headers.get('cache-control')]).toEqual([caller === 'ann' ? 200 : 404, 'no-store']);
    }
    await sendRequest(`${url}/publishers/acme`);
    expect((await ok('ann', 'GET', '/publishers/acme')).members).toBeDefined();
    expect((await as('guest', 'GET', '/publishers/acme')).body.members).toBeUndefined();
    expect((await sendRequest(`${url}/publishers/acme`, { authorization: 'Bearer wrong' })).status).toBe(401);
  });

  it('is refused for another Host, also when its answer is kept', async () => {
    const { url } = registry();
    await sendRequest(`${url}/publishers/acme`);
    expect((await sendRequest(`${url}/publishers/acme`)).status).toBe(200);
    expect((await sendRequest(`${url}/publishers/acme`, { host: 'evil.example' })).status).toBe(403);
  });

  it('counts against the limit of its address, also when its answer is kept', async () => {
    const service = await serviceForTest({ rateLimit: 5 });
    await publisherForTest(service);
    const statuses = [];
    for (let count = 0; count < 7; count++)
      statuses.push((await sendRequest(`${service.url}/publishers/acme`)).status);
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
  });
});
