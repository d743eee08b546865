import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { parseRange } from '../../../src/service/http/send-file.js';
import type { RunningService } from '../../../src/service/serve.js';
import { createZip } from '../../support/create-zip.js';
import {
  ask,
  publisherForTest,
  readVersion,
  registerVersion,
  serviceForTest,
  type TestPublisher,
  uploadArchive,
} from '../../support/service.js';
import { waitFor } from '../../support/wait-for.js';

const zip = await createZip({ '__init__.py': 'NODE_CLASS_MAPPINGS = {}\n' });
const digest = createHash('sha256').update(zip).digest();

interface Setting {
  readonly service: RunningService;
  readonly publisher: TestPublisher;
  readonly url: string;
}

/** A version with a checked archive. */
async function createSetting(archive: Buffer = zip, status = 'Active'): Promise<Setting> {
  const service = await serviceForTest();
  const publisher = await publisherForTest(service);
  const { signedUrl, node_version } = await registerVersion(publisher, '1.0.0-rc.1+linux');
  expect((await uploadArchive(signedUrl, archive)).status).toBe(200);
  await waitFor(async () =>
    expect((await readVersion(publisher, '1.0.0-rc.1+linux')).status).toBe(`NodeVersionStatus${status}`),
  );
  return { service, publisher, url: node_version.downloadUrl };
}

async function fetchBytes(url: string, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { headers });
  return {
    status: answer.status,
    headers: answer.headers,
    content: Buffer.from(await answer.arrayBuffer()),
  };
}

describe('a download', () => {
  it('returns the archive unchanged, with its digests', async () => {
    const { url } = await createSetting();
    const { status, headers, content } = await fetchBytes(url);
    expect(status).toBe(200);
    expect(content).toEqual(zip);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/zip',
      'content-length': String(zip.length),
      'content-disposition': 'attachment; filename="pack-1.0.0-rc.1+linux.zip"',
      'accept-ranges': 'bytes',
      etag: `"${digest.toString('hex')}"`,
      'repr-digest': `sha-256=:${digest.toString('base64')}:`,
      'x-archive-tree': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    });
  });

  it('answers HEAD with the same headers and no body', async () => {
    const { url } = await createSetting();
    const got = await fetchBytes(url);
    const head = await fetch(url, { method: 'HEAD' });
    expect(head.status).toBe(200);
    expect(await head.text()).toBe('');
    for (const name of ['content-length', 'repr-digest', 'x-archive-tree', 'etag', 'content-type']) {
      expect(head.headers.get(name), name).toBe(got.headers.get(name));
    }
  });

  it('returns a range, so that an interrupted download can be resumed', async () => {
    const { url } = await createSetting();
    const last = zip.length - 1;
    const ranges: [range: string, start: number, end: number][] = [
      ['bytes=0-0', 0, 0],
      ['bytes=10-', 10, last],
      ['bytes=-5', last - 4, last],
      ['bytes=5-999999', 5, last],
      ['bytes=-999999', 0, last],
    ];
    for (const [range, start, end] of ranges) {
      const { status, headers, content } = await fetchBytes(url, { range });
      expect([status, headers.get('content-range')], range).toEqual([
        206,
        `bytes ${start}-${end}/${zip.length}`,
      ]);
      expect(content, range).toEqual(zip.subarray(start, end + 1));
    }
  });

  it('returns the whole file if the range is not supported or is of another file', async () => {
    const { url } = await createSetting();
    const whole: Record<string, string>[] = [
      { range: 'bytes=0-1,3-4' },
      { range: 'bytes=5-2' },
      { range: 'lines=1-2' },
      { range: 'bytes=-' },
      { range: 'bytes=0-0', 'if-range': '"another"' },
    ];
    for (const headers of whole) {
      const { status, content } = await fetchBytes(url, headers);
      expect([status, content.length], JSON.stringify(headers)).toEqual([200, zip.length]);
    }
    const etag = `"${digest.toString('hex')}"`;
    expect((await fetchBytes(url, { range: 'bytes=0-0', 'if-range': etag })).status).toBe(206);
  });

  it('refuses a range beyond the end, with the size of the file', async () => {
    const { url } = await createSetting();
    for (const range of [`bytes=${zip.length}-`, 'bytes=-0']) {
      const { status, headers, body } = await ask(url, { headers: { range } });
      expect([status, body.error, headers.get('content-range')], range).toEqual([
        416,
        'range_not_satisfiable',
        `bytes */${zip.length}`,
      ]);
    }
  });

  it('is skipped if the client already has the file', async () => {
    const { url } = await createSetting();
    const { headers } = await fetchBytes(url);
    const etag = headers.get('etag');
    for (const known of [`"other", ${etag}`, `W/${etag}`, '*']) {
      const again = await fetchBytes(url, { 'if-none-match': known });
      expect([known, again.status, again.content.length]).toEqual([known, 304, 0]);
    }
    expect((await fetchBytes(url, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  it('of a version that is not Active is visible only to members and admins', async () => {
    const { service, publisher, url } = await createSetting(Buffer.from('no zip'), 'Flagged');
    const post = { method: 'POST', token: publisher.ownerToken };
    await ask(`${publisher.url}/publishers`, { ...post, json: { id: 'other', name: 'Other' } });
    const others = await ask(`${publisher.url}/publishers/other/tokens`, { ...post, json: { name: 'x' } });
    const outsider = await service.signFor({ sub: 'stranger' });
    const admin = await service.signFor({ sub: 'root', roles: ['admin'] });
    for (const token of [undefined, outsider, others.body.token]) {
      const answer = await ask(url, { token });
      expect([answer.status, answer.body.error]).toEqual([404, 'not_found']);
    }
    for (const token of [publisher.ownerToken, publisher.personalAccessToken, admin]) {
      const answer = await ask(url, { token });
      expect([answer.status, answer.body]).toEqual([200, 'no zip']);
    }
    const invalid = await ask(url, { token: 'wrong' });
    expect([invalid.status, invalid.body.error]).toEqual([401, 'unauthenticated']);
  });

  it('is not found before the upload, nor at another path', async () => {
    const service = await serviceForTest();
    const publisher = await publisherForTest(service);
    const { node_version } = await registerVersion(publisher);
    const url: string = node_version.downloadUrl;
    const elsewhere = [
      url.replace('/acme/', '/other/'),
      url.replace('/pack/', '/peck/'),
      url.replace('/1.0.0/', '/1.0.1/'),
      url.replace('/pack/', '/..%2fpack/'),
    ];
    for (const place of [url, ...elsewhere]) {
      const answer = await ask(place, { token: publisher.ownerToken });
      expect([answer.status, answer.body.error], place).toEqual([404, 'not_found']);
    }
    expect((await ask(url, { method: 'POST' })).status).toBe(405);
  });
});

describe('parseRange', () => {
  it('returns no range of an empty file', () => {
    expect(parseRange('bytes=0-', 0)).toBe('outside');
    expect(parseRange('bytes=-1', 0)).toBe('outside');
    expect(parseRange(undefined, 0)).toBeUndefined();
  });
});
