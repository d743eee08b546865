import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { readFileType } from '../../../../src/disk/file-type.js';
import { VideoVendor } from '../../../../src/service/configuration/generation-settings.js';
import { loadVendorProfile } from '../../../../src/service/configuration/vendor-profile.js';
import { createRequestBody } from '../../../../src/service/engines/upstream/request.js';
import { Vendor } from '../../../../src/service/engines/upstream/vendor.js';
import { folderForTest } from '../../../support/service.js';

function writeInput(bytes: Buffer): string {
  const path = join(folderForTest(), 'input');
  writeFileSync(path, bytes);
  return path;
}

test.each([1, 2, 3, 65_536, 200_001])('an image of %i bytes is in the body unchanged', async (size) => {
  const bytes = randomBytes(size);
  const fields = { image: 'image', prompt: 'image "reference_image" \u0001 \\', style: 'clean' };
  const body = await createRequestBody({ fields, images: { image: writeInput(bytes) }, isDataUrl: false });
  const sent = await buffer(body.open());
  expect(sent).toHaveLength(body.length);
  expect(sent.toString()).toBe(JSON.stringify({ ...fields, image: bytes.toString('base64') }));
  // A second attempt sends the same.
  expect((await buffer(body.open())).equals(sent)).toBe(true);
});

test('the frames of a video are sent as data URLs, in order', async () => {
  const [png, jpeg] = [Buffer.from('\x89PNG\r\n\x1a\n1', 'latin1'), Buffer.from('\xff\xd8\xff2', 'latin1')];
  const images = { 'images.0': writeInput(png), 'images.1': writeInput(jpeg) };
  const fields = { images: ['images.0', 'images.1'], model: 'theirs' };
  const body = await createRequestBody({ fields, images, isDataUrl: true });
  expect(JSON.parse((await buffer(body.open())).toString())).toEqual({
    images: [
      `data:image/png;base64,${png.toString('base64')}`,
      `data:image/jpeg;base64,${jpeg.toString('base64')}`,
    ],
    model: 'theirs',
  });
});

test.each([
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff\xe0', 'image/jpeg'],
  ['GIF89a', 'image/gif'],
  ['RIFF\n\n\n\nWEBPVP8 ', 'image/webp'],
  ['\0\0\0\x1cftypavif', 'image/avif'],
  ['\0\0\0\x18ftypisom', 'video/mp4'],
  ['\x1aE\xdf\xa3', 'video/webm'],
  ['<svg onload="alert(1)">', undefined],
  ['\0\0\0\x1cftypheic', undefined],
  ['', undefined],
])('a file that begins with %j is %s, whatever the vendor calls it', async (beginning, type) => {
  expect((await readFileType(writeInput(Buffer.from(beginning, 'latin1'))))?.mediaType).toBe(type);
});

test("a vendor's message reaches the caller shortened, without key, URLs and control characters", () => {
  const settings = VideoVendor.parse({
    engine: 'upstream',
    baseUrl: 'https://v.example',
    key: { env: 'KEY' },
  });
  const loaded = loadVendorProfile('regen');
  if ('problems' in loaded) throw new Error('The profile is not valid.');
  const vendor = new Vendor(loaded.profile, settings, 'sk-1');
  const words = 'Bad key sk-1\u001b[31m\n at https://us.example/vendor-callbacks/1?signature=x ';
  expect(vendor.cleanText(words)).toBe('Bad key … [31m at …');
  expect(vendor.cleanText('long '.repeat(1000))).toHaveLength(300);
});
