import { resolve } from 'node:path';
import { readPrivateFile } from '../disk/private-file.js';
import type { Credentials } from './credentials.js';
import { usage } from './failure.js';
import { readAll } from './stdin.js';
import type { System } from './system.js';

/** A bearer credential and where it comes from, in a person's words. */
export interface Credential {
  readonly token: string;
  readonly source: string;
}

export interface Sources {
  readonly tokenFile?: string;
  /** Absent where the environment's tokens are not meant for this service. */
  readonly env?: System['env'];
  readonly kept: Credentials;
  readonly keptAt: string;
  /** The embedded service's own. */
  readonly ownerToken?: string;
}

/** `--token-file` > REGEN_TOKEN > the store > the embedded owner's > REGEN_PUBLISH_TOKEN. */
export async function chooseCredential(system: System, sources: Sources): Promise<Credential | undefined> {
  const { tokenFile, env, kept, keptAt, ownerToken } = sources;
  if (tokenFile) return { token: await tokenOfFile(system, tokenFile), source: '--token-file' };
  if (env?.REGEN_TOKEN) return { token: env.REGEN_TOKEN.trim(), source: 'REGEN_TOKEN' };
  if (kept.token) return { token: kept.token, source: keptAt };
  if (ownerToken) return { token: ownerToken, source: 'the embedded service' };
  if (env?.REGEN_PUBLISH_TOKEN)
    return { token: env.REGEN_PUBLISH_TOKEN.trim(), source: 'REGEN_PUBLISH_TOKEN' };
  return undefined;
}

async function tokenOfFile(system: System, path: string): Promise<string> {
  const text = path === '-' ? await readAll(system.stdin) : readPrivateFile(resolve(system.cwd, path));
  if (text === undefined) throw usage(`There is no file ${path}, which --token-file names.`);
  const token = text.trim();
  if (!token) throw usage(`There is no token in ${path === '-' ? 'standard input' : path}.`);
  return token;
}
