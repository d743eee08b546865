import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import pg from 'pg';
import { explainMissingNetwork } from './installation.js';
import { createPostgresServer, explainMissingPostgres } from './postgres-server.js';
import { createS3Server } from './s3-server.js';

/** A PostgreSQL server and a bucket. */
export interface SharedPlaces {
  /**
   * Writes the settings of services that share an empty database and an empty part of the bucket.
   * @param data the data folder of each service
   * @returns the paths of their files, and the variables that they need
   */
  configure(...data: readonly string[]): Promise<{ configs: string[]; env: Record<string, string> }>;
  remove(): Promise<void>;
}

/** Takes the servers that the tests are given, or starts its own. @returns why it cannot, if so */
export async function openSharedPlaces(): Promise<SharedPlaces | string> {
  const { TEST_DATABASE_URL, TEST_S3_URL } = process.env;
  const missing = explainMissingPostgres() ?? (TEST_S3_URL === undefined && (await explainMissingNetwork()));
  if (missing) return missing;
  const s3 = TEST_S3_URL === undefined ? await createS3Server() : undefined;
  const bucket = TEST_S3_URL ?? s3?.url;
  if (bucket === undefined) return 'the S3 server cannot be fetched';
  const postgres = TEST_DATABASE_URL === undefined ? await createPostgresServer() : undefined;
  const { origin, pathname, username, password } = new URL(bucket);
  return {
    configure: async (...data) => {
      const database = await createSchema(TEST_DATABASE_URL ?? (postgres?.url as string));
      const s3 = {
        endpoint: origin,
        accessKeyId: decodeURIComponent(username),
        secretAccessKey: { env: 'TEST_S3_SECRET' },
      };
      const storage = `s3://${pathname.slice(1)}/${randomUUID()}`;
      const configs = data.map((folder) => {
        const config = `${folder}.json`;
        writeFileSync(config, JSON.stringify({ port: 0, data: folder, database, storage, s3 }));
        return config;
      });
      return { configs, env: { TEST_S3_SECRET: decodeURIComponent(password) } };
    },
    remove: async () => {
      await postgres?.remove();
      await s3?.remove();
    },
  };
}

async function createSchema(server: string): Promise<string> {
  const schema = `s${randomUUID().replaceAll('-', '')}`;
  const client = new pg.Client({ connectionString: server });
  await client.connect();
  await client.query(`create schema ${schema}`);
  await client.end();
  const url = new URL(server);
  url.searchParams.set('options', `-c search_path=${schema}`);
  return url.href;
}
