import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { SecureUrl } from '../../../secure-url.js';

// Decided: the key itself never stands in the configuration, which is shown around and checked in.
const KeyPlace = z
  .strictObject({
    /** Name of an environment variable. */
    env: z.string().min(1).optional(),
    file: z.string().refine(isAbsolute, { error: 'must be an absolute path' }).optional(),
  })
  .refine(({ env, file }) => (env === undefined) !== (file === undefined), {
    error: 'must name either an environment variable (env) or a file',
  });

const settings = {
  engine: z.literal('upstream'),
  /** What stands in the place of `/proxy/imagevendor` or `/proxy/videovendor` in the contract's paths. */
  baseUrl: SecureUrl,
  /** The header that carries the key; in `Authorization` it follows the word Bearer. */
  keyHeader: z
    .string()
    .regex(/^[A-Za-z0-9-]+$/, { error: 'must be the name of a header' })
    .default('Authorization'),
  key: KeyPlace,
  /** So many tasks at once. */
  atOnce: z.int().positive().default(50),
  /** The first pause between two looks at a task; they grow to 15 times as much. Milliseconds. */
  pollMs: z.int().positive().default(2_000),
  /** How long the vendor has for one answer. Milliseconds. */
  answerMs: z.int().positive().default(60_000),
  /** Whether it honours `Idempotency-Key`; absent: that is seen by its answers. */
  honoursKeys: z.boolean().optional(),
};

export const ImageVendor = z.strictObject(settings);

export const VideoVendor = z.strictObject({
  ...settings,
  /** What the vendor calls the models of the contract, where its names are others. */
  models: z.record(z.string(), z.string().min(1)).default({}),
});

export type VendorSettings = z.output<typeof ImageVendor> &
  Partial<Pick<z.output<typeof VideoVendor>, 'models'>>;

/**
 * The vendor's key, from where the configuration says.
 * @throws KeyMissing
 */
export function keyOf({ key }: VendorSettings, env: Readonly<Record<string, string | undefined>>): string {
  const place = key.env === undefined ? `the file ${key.file}` : `the environment variable ${key.env}`;
  const text = (key.env === undefined ? textOf(key.file as string) : env[key.env])?.trim();
  if (!text) throw new KeyMissing(`names ${place}, which holds nothing`);
  if (!/^[\x21-\x7e]+$/.test(text)) throw new KeyMissing(`names ${place}, which does not hold a key`);
  return text;
}

/** Why there is no key, to follow the name of the setting. */
export class KeyMissing extends Error {
  override readonly name = 'KeyMissing';
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}
