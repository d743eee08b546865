import { z } from 'zod';
import type { Problem } from '../../contract/schema/schema-types.js';
import { ServerUrl } from '../network/secure-url.js';
import { checkSecret, createSecretSource, type Environment, readSecret } from './secret-source.js';

export const S3Settings = z
  .strictObject({
    endpoint: ServerUrl.optional()
      .meta({ examples: ['https://s3.example.com'] })
      .describe('Where the buckets are, if not at Amazon'),
    region: z.string().min(1).default('us-east-1').describe('The region of the bucket'),
    accessKeyId: z
      .string()
      .min(1)
      .optional()
      .meta({ examples: ['AKIA…'] })
      .describe('The id of the key that the service uses. Default: the variable AWS_ACCESS_KEY_ID'),
    secretAccessKey: createSecretSource('the secret of that key', 'AWS_SECRET_ACCESS_KEY').prefault({
      env: 'AWS_SECRET_ACCESS_KEY',
    }),
    redirect: z
      .boolean()
      .default(false)
      .describe(
        'Whether downloads are redirected to URLs of the bucket, valid for five minutes, instead of passing through the service; clients must reach the bucket',
      ),
  })
  .describe('How the bucket of `storage` is reached');

interface S3Configuration {
  readonly storage?: string | undefined;
  readonly s3: z.output<typeof S3Settings>;
}

/** Names what is missing for the bucket that is configured. */
export function checkS3({ storage, s3 }: S3Configuration, env: Environment): Problem[] {
  if (!storage?.startsWith('s3:')) return [];
  const hasId = (s3.accessKeyId ?? env.AWS_ACCESS_KEY_ID ?? '') !== '';
  const message = 'is missing, and so is the environment variable AWS_ACCESS_KEY_ID';
  return [
    ...(hasId ? [] : [{ path: ['s3', 'accessKeyId'], message }]),
    ...checkSecret(s3.secretAccessKey, env, { path: ['s3', 'secretAccessKey'], what: 'key' }),
  ];
}

/** @returns where the bucket is and what opens it; undefined if objects are stored on disk */
export function getS3Options({ storage, s3 }: S3Configuration, env: Environment) {
  if (!storage?.startsWith('s3:')) return undefined;
  const { host: bucket, pathname } = new URL(storage);
  const { endpoint, region, redirect, accessKeyId = env.AWS_ACCESS_KEY_ID as string } = s3;
  const secretAccessKey = readSecret(s3.secretAccessKey, env);
  return {
    bucket,
    prefix: pathname.replace(/^\/+|\/+$/g, ''),
    endpoint,
    region,
    redirect,
    accessKeyId,
    secretAccessKey,
  };
}
