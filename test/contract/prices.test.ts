import { expect, it } from 'vitest';
import { creditsFor } from '../../src/contract/prices.js';

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
  expect(creditsFor(prices, operation, body)).toBe(credits);
});

it('does not charge for what a computer adds to a sum', () => {
  const table = { ...prices, video_per_second: { 'vvq3-pro': { '720p': 0.1 } }, off_peak: 1 };
  expect(creditsFor(table, 'video.text2video', { duration: 3, off_peak: true })).toBe(1);
  const ten = { ...prices, video_per_second: { 'vvq3-pro': { '720p': 1.1 } } };
  expect(creditsFor(ten, 'video.text2video', { duration: 10 })).toBe(11);
});
