import type * as Webcodecs from '@napi-rs/webcodecs';
import type * as Mediabunny from 'mediabunny';

export class CodecsMissing extends Error {
  override readonly name = 'CodecsMissing';

  constructor(cause: unknown) {
    super(
      'This service cannot make videos: the optional packages @napi-rs/webcodecs and mediabunny are not installed.',
      { cause },
    );
  }
}

/** What makes and reads compressed pictures and sound, and the files that hold them. */
export interface Codecs {
  readonly webcodecs: typeof Webcodecs;
  readonly mediabunny: typeof Mediabunny;
}

/** @throws CodecsMissing where they are not installed */
export async function loadCodecs(): Promise<Codecs> {
  try {
    const [webcodecs, mediabunny] = await Promise.all([import('@napi-rs/webcodecs'), import('mediabunny')]);
    return { webcodecs, mediabunny };
  } catch (error) {
    throw new CodecsMissing(error);
  }
}
