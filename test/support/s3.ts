import { createHash, randomUUID } from 'node:crypto';
import { resolve } from 'node:path';

/** A bucket, `http://id:secret@host/bucket`: `npm run test:engines` sets it. */
const given = process.env.TEST_S3_URL;

/** The bucket that tests may use; undefined without one. */
export const testBucket = given === undefined ? undefined : parseBucket(new URL(given));

function parseBucket({ origin, pathname, username, password }: URL) {
  const [bucket, secretAccessKey] = [pathname.slice(1), decodeURIComponent(password)];
  return {
    endpoint: origin,
    bucket,
    accessKeyId: decodeURIComponent(username),
    secretAccessKey,
    region: 'us-east-1',
  };
}

/** The setting of a test's service: a prefix for each data folder, if the tests run with a bucket. */
export function storageForFolder(data: string | undefined) {
  if (process.env.TEST_STORAGE !== 's3' || !testBucket) return {};
  const name = data === undefined ? randomUUID() : resolve(data);
  const { bucket, endpoint, accessKeyId, secretAccessKey } = testBucket;
  process.env.TEST_S3_SECRET = secretAccessKey;
  return {
    storage: `s3://${bucket}/${createHash('sha256').update(name).digest('hex').slice(0, 16)}`,
    s3: { endpoint, accessKeyId, secretAccessKey: { env: 'TEST_S3_SECRET' } },
  };
}
