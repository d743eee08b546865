import { setTimeout } from 'node:timers/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import { loadPackages } from '../packages.js';

/** The packages that encode and decode pictures and sound, and read and write their files. */
export interface Codecs {
  readonly webcodecs: typeof Webcodecs;
  readonly mediabunny: typeof Mediabunny;
}

const MISSING =
  'This service cannot make videos: the optional packages @napi-rs/webcodecs and mediabunny are not installed.';

/** @throws PackageMissing */
export const loadCodecs = (): Codecs =>
  loadPackages(MISSING, (require) => ({
    webcodecs: require('@napi-rs/webcodecs'),
    mediabunny: require('mediabunny'),
  }));

/** Waits while a codec is busy. Polls, because its event may fire before there is a listener. */
export async function waitWhile(isBusy: () => boolean): Promise<void> {
  while (isBusy()) await setTimeout(2);
}
