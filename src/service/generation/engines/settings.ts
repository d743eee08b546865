import { z } from 'zod';
import { ImageVendor, VideoVendor } from './upstream/settings.js';

const Local = z.strictObject({ engine: z.literal('local') });

const LocalVideo = z.strictObject({
  ...Local.shape,
  /** Videos that are made at once: one draws while the other's frames are compressed; each takes up to 300 MB. */
  atOnce: z.int().positive().default(2),
});

const error = (issue: { readonly code?: string | undefined }) =>
  issue.code === 'invalid_union' ? "must have the engine 'local' or 'upstream'" : undefined;

/** Who makes what: this machine, or a vendor. */
export const GenerationSettings = z.strictObject({
  image: z.discriminatedUnion('engine', [Local, ImageVendor], { error }).prefault({ engine: 'local' }),
  video: z.discriminatedUnion('engine', [LocalVideo, VideoVendor], { error }).prefault({ engine: 'local' }),
});
