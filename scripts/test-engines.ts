import { spawnSync } from 'node:child_process';
import { createPostgresServer, explainMissingPostgres } from '../test/support/postgres-server.js';
import { createS3Server } from '../test/support/s3-server.js';

// The tests of the service on PostgreSQL, and of S3: `npm run test:engines [-- <files and flags of vitest>]`. Every
// transaction runs twice, as after a conflict.

/** The other files start no service in their process, or are about the files of the embedded database. */
const FILES = [
  ...['auth', 'generation', 'http', 'jobs', 'operation', 'queue', 'registry', 'webhooks'].map(
    (room) => `test/service/${room}`,
  ),
  ...['postgres', 'upgraded'].map((name) => `test/service/database/${name}.test.ts`),
  'test/simulate/services.test.ts',
  ...['declared-fields', 'several-services'].map((name) => `test/service/${name}.test.ts`),
  'test/service/storage/s3.test.ts',
  'test/service/maintenance/copy.test.ts',
];
// Validation of requests, kills simulated by copying a database file, and thousands of random requests.
const LEFT_OUT = ['generation/limits', 'generation/video-limits', 'generation/killed', 'http/random'];

const missing = explainMissingPostgres();
if (missing) console.log(`The tests on PostgreSQL are skipped: ${missing}.`);
const { TEST_DATABASE_URL, TEST_S3_URL } = process.env;
const postgres = missing || TEST_DATABASE_URL !== undefined ? undefined : await createPostgresServer();
const s3 = TEST_S3_URL === undefined ? await createS3Server() : undefined;
if (TEST_S3_URL === undefined && !s3)
  console.log('The tests on S3 are skipped: its server cannot be fetched.');

const chosen = process.argv.slice(2);
const excluded = LEFT_OUT.flatMap((name) => ['--exclude', `test/service/${name}.test.ts`]);
const all = missing ? ['test/service/storage/s3.test.ts'] : [...FILES, ...excluded];
const args = [
  'node_modules/vitest/vitest.mjs',
  'run',
  ...(chosen.some((word) => word.startsWith('test/')) ? [] : all),
  ...chosen,
];
const urls = {
  ...((TEST_DATABASE_URL ?? postgres?.url) && { TEST_DATABASE_URL: TEST_DATABASE_URL ?? postgres?.url }),
  ...((TEST_S3_URL ?? s3?.url) && { TEST_S3_URL: TEST_S3_URL ?? s3?.url }),
};
const { status } = spawnSync(process.execPath, args, {
  stdio: 'inherit',
  env: { ...process.env, TEST_REPEATS: '1', ...urls },
});
await postgres?.remove();
await s3?.remove();
process.exit(status ?? 1);
