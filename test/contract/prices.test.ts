import { expect, it } from 'vitest';
import { getTaskFacts } from '../../src/contract/index.js';

const prices = {
  video_per_second: {
    'vvq3-pro': { '720p': 5, '1080p': 8 },
    'vvq2-turbo': { '720p': 2.1 },
    'vv2.0': { '360p': 1, '720p': 3 },
    vvq1: { '1080p': 0.1 },
  },
  image: { relight: 2 },
  is_rec: 10,
  off_peak: 0.5,
};

it.each([
  ['video.text2video', {}, 25],
  ['video.text2video', { duration: 4, resolution: '1080p' }, 32],
  ['video.text2video', { is_rec: true }, 35],
  ['video.text2video', { off_peak: true }, 13],
  ['video.text2video', { off_peak: true, is_rec: true }, 23],
  ['video.text2video', { off_peak: false, is_rec: false }, 25],
  ['video.startEnd2video', { model: 'vv2.0' }, 4],
  ['video.startEnd2video', { model: 'vv2.0', duration: 8 }, 24],
  ['video.extend', {}, 11],
  ['video.extend', { duration: 1 }, 3],
  ['video.text2video', { model: 'vvq1' }, 1],
  ['image.relight', { prompt: 'x' }, 2],
  ['image.upscaler', {}, undefined],
  ['video.text2video', { resolution: '2K' }, undefined],
  ['video.text2video', { model: 'vvq2-pro' }, undefined],
])('%s with %j costs %s', (operation, body, credits) => {
  expect(getTaskFacts(operation).price(prices, body)).toBe(credits);
});

it('does not charge for floating-point noise', () => {
  const perSecond = (credits: number) => ({
    ...prices,
    video_per_second: { 'vvq3-pro': { '720p': credits } },
  });
  const { price } = getTaskFacts('video.text2video');
  // Of all prices in cents, 16.6 times 15 is the only one that noise lifts above a whole number.
  expect(16.6 * 15).toBeGreaterThan(249);
  expect(price(perSecond(16.6), { duration: 15 })).toBe(249);
  expect(price(perSecond(16.61), { duration: 15 })).toBe(250);
});
