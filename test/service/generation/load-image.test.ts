import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { DEFAULT_LIMITS as imageLimits } from '../../../src/contract/schema/limits.js';
import { Configuration } from '../../../src/service/configuration/configuration.js';
import { fetchInput } from '../../../src/service/generation/fetch-input.js';
import { loadImage } from '../../../src/service/generation/load-image.js';
import { getOwnOrigin } from '../../../src/service/operation/context.js';
import { ImageInspector } from '../../../src/service/operation/image-inspector.js';
import { Refused } from '../../../src/service/operation/refused.js';
import { isPublicAddress } from '../../../src/wire/addresses.js';
import { createPngHeader } from '../../support/generation.js';

const folder = mkdtempSync(join(tmpdir(), 'regen-image-'));
const answers: Record<string, RequestListener> = {};
const server = createServer((request, response) => answers[request.url ?? '']?.(request, response));
const inspector = new ImageInspector();
let origin = '';
let png: Buffer;
let jpeg: Buffer;

beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const noise = { type: 'gaussian', mean: 128, sigma: 40 } as const;
  const picture = sharp({ create: { width: 320, height: 200, channels: 3, background: '#888', noise } });
  png = await picture.png().toBuffer();
  jpeg = await picture.jpeg().toBuffer();
});
afterEach(() => expect(readdirSync(folder)).toEqual([]));
afterAll(async () => {
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
  await inspector.close();
});

type Options = Partial<Omit<Parameters<typeof loadImage>[1], 'owner' | 'inspector'>>;
const loopbackService = 'http://127.0.0.1:7717';
const publicService = { serviceOrigin: 'https://regen.example', loopbackAllowed: false };

const loadForTest = (value: string, options: Options = {}) =>
  loadImage(value, {
    field: 'image',
    limits: imageLimits,
    serviceOrigin: loopbackService,
    loopbackAllowed: true,
    folder,
    owner: 'ann',
    inspector,
    ...options,
  });

async function readSize(value: string, options: Options = {}) {
  const { content, ...size } = await loadForTest(value, options);
  if (typeof content !== 'string') return { ...size, content };
  const bytes = readFileSync(content);
  rmSync(content);
  return { ...size, content: bytes };
}

async function catchRefusal(value: string, options: Options = {}): Promise<string> {
  const error = await loadForTest(value, options).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(Refused);
  const { code, details } = error as Refused;
  expect([code, details?.map(({ path }) => path)]).toEqual(['invalid_request', ['image']]);
  return String(details?.[0]?.message);
}

function serveBytes(path: string, type: string, body: Buffer | string): string {
  answers[path] = (_, response) => response.writeHead(200, { 'content-type': type }).end(body);
  return origin + path;
}

test('writes the same file for Base64, a data URL and a URL of the same image', async () => {
  const type = { mediaType: 'image/png', bytes: png.length };
  const image = { width: 320, height: 200, content: png, ...type };
  expect(await readSize(png.toString('base64'))).toEqual(image);
  expect(await readSize(`data:image/png;base64,${png.toString('base64')}`)).toEqual(image);
  expect(await readSize(serveBytes('/picture', 'image/png', png))).toEqual(image);
});

test('returns the displayed size of an image, not the stored one', async () => {
  const turned = await sharp(jpeg).withMetadata({ orientation: 6 }).toBuffer();
  expect(await readSize(turned.toString('base64'))).toMatchObject({ width: 200, height: 320 });
});

test('refuses a file that is not an image, by its content', async () => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';
  const pdf = '%PDF-1.4 …';
  for (const text of [svg, pdf, 'hello']) {
    const data = `data:image/png;base64,${Buffer.from(text).toString('base64')}`;
    expect(await catchRefusal(data)).toBe('must be an image: JPEG, PNG, WebP, GIF, TIFF or AVIF');
  }
});

test('refuses a truncated image', async () => {
  const broken = 'is truncated or corrupt';
  expect(await catchRefusal(jpeg.subarray(0, jpeg.length / 2).toString('base64'))).toBe(broken);
  expect(await catchRefusal(png.subarray(0, png.length / 2).toString('base64'))).toBe(broken);
});

test('refuses an empty image, in the request and at a URL', async () => {
  expect(await catchRefusal('data:image/png;base64,')).toBe('must not be empty');
  expect(await catchRefusal(serveBytes('/empty', 'image/png', ''))).toBe('must not be empty');
});

test('accepts an image at the limits, and refuses one beyond them', async () => {
  const pixels = 320 * 200;
  const limits = { imageBytes: png.length, imagePixels: pixels };
  const value = png.toString('base64');
  expect(await readSize(value, { limits })).toMatchObject({ width: 320 });
  const megabyte = Buffer.alloc(1024 ** 2 + 1).toString('base64');
  const small = { imageBytes: 1024 ** 2, imagePixels: pixels };
  expect(await catchRefusal(megabyte, { limits: small })).toBe('must be at most 1 MB');
  expect(await catchRefusal(value, { limits: { ...limits, imagePixels: pixels - 1 } })).toContain(
    '320 × 200 pixels',
  );
});

test('refuses a decompression bomb by its header', async () => {
  const bomb = createPngHeader(11_000, 11_000);
  expect(await catchRefusal(bomb.toString('base64'))).toBe(
    'must have at most 100 megapixels; it has 11000 × 11000 pixels',
  );
});

test('says why a URL could not be fetched', async () => {
  const cases: [string, string][] = [
    [
      serveBytes('/page', 'text/html; charset=utf-8', '<html>'),
      'its content type is text/html, not an image',
    ],
    [`${origin}/unknown`, 'the server answered 404'],
    ['http://127.0.0.1:9/', 'its host refused the connection'],
    ['http://name.invalid/', 'its host was not found'],
    [origin.replace('//', '//user:secret@'), 'its URL must not contain a user name or password'],
  ];
  answers['/unknown'] = (_, response) => response.writeHead(404).end();
  for (const [url, why] of cases) expect(await catchRefusal(url)).toBe(`could not be fetched: ${why}`);
});

test('stops fetching at the limit, with and without a Content-Length', async () => {
  const limits = { imageBytes: 1024 ** 2, imagePixels: 1 };
  const large = Buffer.alloc(1024 ** 2 + 1);
  const why = 'could not be fetched: it is larger than 1 MB';
  expect(await catchRefusal(serveBytes('/told', 'image/png', large), { limits })).toBe(why);
  answers['/endless'] = (_, response) => {
    const more = () => response.write(large) && setImmediate(more);
    response.on('drain', more).writeHead(200, { 'content-type': 'image/png' });
    more();
  };
  expect(await catchRefusal(`${origin}/endless`, { limits })).toBe(why);
});

test('stops waiting for a server that stalls', async () => {
  answers['/slow'] = (_, response) => {
    response.writeHead(200, { 'content-type': 'image/png' }).write(png.subarray(0, 99));
  };
  const rules = {
    bytes: 1_000,
    seconds: 0.2,
    serviceOrigin: origin,
    loopbackAllowed: true,
    httpsOnly: false,
  };
  const path = join(folder, 'slow');
  const fetching = fetchInput('image', `${origin}/slow`, path, { ...rules, media: 'image' });
  await expect(fetching).rejects.toMatchObject({
    details: [{ path: 'image', message: 'could not be fetched: it took longer than 0.2 s' }],
  });
  rmSync(path);
});

test('leaves no file when the caller aborts', async () => {
  const giving = new AbortController();
  answers['/wait'] = () => giving.abort(new Error('gone'));
  await expect(loadForTest(`${origin}/wait`, { signal: giving.signal })).rejects.toThrow('gone');
});

test('fetches from loopback only for a service on loopback', async () => {
  const picture = serveBytes('/picture', 'image/png', png);
  const why = 'could not be fetched: its address is not public';
  expect(await catchRefusal(picture, publicService)).toBe(why);
  const byName = picture.replace('127.0.0.1', 'localhost');
  expect(await catchRefusal(byName, publicService)).toBe(why);
  expect(await readSize(byName)).toMatchObject({ width: 320 });
  expect(await readSize(picture, { serviceOrigin: origin })).toMatchObject({ width: 320 });
});

test('fetches from an allowed network, and where it redirects only if that is allowed too', async () => {
  const picture = serveBytes('/picture', 'image/png', png);
  const allowed = { ...publicService, allowedNetworks: ['127.0.0.1'] };
  expect(await readSize(picture, allowed)).toMatchObject({ width: 320 });
  answers['/away'] = (_, response) => response.writeHead(302, { location: 'http://10.0.0.1/' }).end();
  expect(await catchRefusal(`${origin}/away`, allowed)).toBe(
    'could not be fetched: its address is not public',
  );
});

test('a service that others reach does not fetch from loopback, even if its own URL is on loopback', () => {
  const decide = (host: string, baseUrl: string, trustedProxies: number | string[] = 0) =>
    getOwnOrigin({ configuration: Configuration.parse({ host, trustedProxies }), baseUrl: () => baseUrl })
      .loopbackAllowed;
  expect(decide('127.0.0.1', 'http://127.0.0.1:7717')).toBe(true);
  expect(decide('0.0.0.0', 'http://127.0.0.1:7717')).toBe(false);
  expect(decide('::', 'http://[::1]:7717')).toBe(false);
  expect(decide('127.0.0.1', 'https://regen.example')).toBe(false);
  expect(decide('127.0.0.1', 'http://127.0.0.1:7717', 1)).toBe(false);
  expect(decide('127.0.0.1', 'http://127.0.0.1:7717', ['127.0.0.1'])).toBe(false);
});

test('checks every redirect', async () => {
  const redirect = (path: string, location: string) => {
    answers[path] = (_, response) => response.writeHead(302, { location }).end();
    return origin + path;
  };
  serveBytes('/picture', 'image/png', png);
  expect(await readSize(redirect('/moved', '/picture'))).toMatchObject({ width: 320 });
  const cases: [string, string][] = [
    ['http://169.254.169.254/latest/meta-data', 'its address is not public'],
    ['http://0x0a000001/', 'its address is not public'],
    ['http://[::ffff:10.0.0.1]/', 'its address is not public'],
    ['file:///etc/passwd', 'its URL must begin with http or https'],
    ['/round', 'it was redirected more than 3 times'],
  ];
  for (const [location, why] of cases) {
    expect(await catchRefusal(redirect('/round', location))).toBe(`could not be fetched: ${why}`);
  }
});

test('follows three redirects and refuses a fourth', async () => {
  serveBytes('/hop-0', 'image/png', png);
  for (const hop of [1, 2, 3, 4]) {
    answers[`/hop-${hop}`] = (_, response) => response.writeHead(302, { location: `/hop-${hop - 1}` }).end();
  }
  expect(await readSize(`${origin}/hop-3`)).toMatchObject({ width: 320 });
  expect(await catchRefusal(`${origin}/hop-4`)).toBe(
    'could not be fetched: it was redirected more than 3 times',
  );
});

test('fetches only over https if the field requires it, except from the service itself', async () => {
  const picture = serveBytes('/picture', 'image/png', png);
  const options = { httpsOnly: true, ...publicService };
  const why = 'could not be fetched: its URL must begin with https';
  expect(await catchRefusal(picture, options)).toBe(why);
  expect(await catchRefusal('http://example.com/a.png', { httpsOnly: true })).toBe(why);
  expect(await readSize(picture, { httpsOnly: true })).toMatchObject({ width: 320 });
});

test.each([
  ...['0.0.0.0', '10.1.2.3', '100.64.0.1', '127.0.0.1', '169.254.169.254', '172.31.0.1', '192.168.1.1'],
  ...['198.18.0.1', '224.0.0.1', '255.255.255.255', '::', '::1', 'fe80::1', 'fd00::1', 'ff02::1'],
  ...['::ffff:8.8.8.8', '64:ff9b::a00:1', '2002:a00:1::', '2001:db8::1', 'fec0::1', 'nonsense'],
])('%s is not a public address', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});

test.each(['8.8.8.8', '93.184.216.34', '172.32.0.1', '2606:4700::1111'])(
  '%s is a public address',
  (address) => expect(isPublicAddress(address)).toBe(true),
);
