import { createRequire } from 'node:module';
import { setTimeout } from 'node:timers/promises';
import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';
import { requireFreeHandles } from '../../disk/file-handles.js';
import { isMachineTrouble } from '../../disk/machine-trouble.js';

export class CodecsMissing extends Error {
  override readonly name = 'CodecsMissing';

  constructor(cause: unknown) {
    super(
      'This service cannot make videos: the optional packages @napi-rs/webcodecs and mediabunny are not installed.',
      { cause },
    );
  }
}

/** The packages that encode and decode pictures and sound, and read and write their files. */
export interface Codecs {
  readonly webcodecs: typeof Webcodecs;
  readonly mediabunny: typeof Mediabunny;
}

/** @throws CodecsMissing if they are not installed */
export async function loadCodecs(): Promise<Codecs> {
  // Not `import`, which never tries a file again that it could not read, and loads a hundred files of mediabunny instead of one.
  const require = createRequire(import.meta.url);
  try {
    requireFreeHandles();
    return { webcodecs: require('@napi-rs/webcodecs'), mediabunny: require('mediabunny') };
  } catch (error) {
    throw isMachineTrouble(error) ? error : new CodecsMissing(error);
  }
}

/** Waits while a codec is busy. Polls, because its event may fire before there is a listener. */
export async function waitWhile(isBusy: () => boolean): Promise<void> {
  while (isBusy()) await setTimeout(2);
}
