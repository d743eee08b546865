import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A server that refuses wrong signatures. Its engines field names a newer Node, but it runs on 20. */
const SERVER = '@20minutes/s3rver@5.0.0';

/** An S3 server with an empty bucket. */
export interface S3Server {
  /** `http://id:secret@host/bucket`. */
  readonly url: string;
  /** Ends it and removes its folder. */
  remove(): Promise<void>;
}

const PROGRAM = `
  const S3rver = require(process.argv[1]);
  const [address, port, directory] = ['127.0.0.1', 0, process.argv[2]];
  const server = new S3rver({ address, port, silent: true, directory, configureBuckets: [{ name: 'objects' }] });
  server.run().then((bound) => console.log(bound.port));
`;

/**
 * Fetches a server from npm and starts it on loopback. Its long lists need an old cipher.
 * @returns undefined if it cannot be fetched
 */
export async function createS3Server(): Promise<S3Server | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'regen-s3-'));
  const args = ['install', '--prefix', folder, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  try {
    execFileSync('npm', [...args, SERVER], { stdio: 'ignore', timeout: 120_000 });
  } catch {
    rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
  const main = createRequire(join(folder, 'from.js')).resolve('@20minutes/s3rver');
  const server = spawn(
    process.execPath,
    ['--openssl-legacy-provider', '-e', PROGRAM, main, join(folder, 'data')],
    {
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  );
  const [port] = await once(server.stdout, 'data');
  const remove = async () => {
    const ended = once(server, 'exit');
    server.kill();
    await ended;
    rmSync(folder, { recursive: true, force: true });
  };
  return { url: `http://S3RVER:S3RVER@127.0.0.1:${String(port).trim()}/objects`, remove };
}
