import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';

/** A bearer credential and where it comes from, in a person's words. */
export interface Credential {
  readonly source: string;
  /** What to send at this moment. */
  token(): Promise<string>;
  /** Told that the service refused this one; whether there is another now. Absent where there never is. */
  renew?(refused: string): Promise<boolean>;
}

export interface Sources {
  readonly tokenFile?: string;
  /** Absent where the environment's tokens are not meant for this service. */
  readonly env?: System['env'];
  /** What a person keeps for the service; read only where nothing goes before it. */
  readonly kept: () => Promise<Credential | undefined>;
  /** The embedded service's own. */
  readonly ownerToken?: string;
}

/**
 * `--token-file` > REGEN_TOKEN > REGEN_ADMIN_TOKEN_FILE > the store > the embedded owner's > REGEN_PUBLISH_TOKEN.
 */
export async function chooseCredential(system: System, sources: Sources): Promise<Credential | undefined> {
  const { tokenFile, env, ownerToken } = sources;
  if (tokenFile) return fixedCredential(await tokenOfFile(system, tokenFile), '--token-file');
  if (env?.REGEN_TOKEN) return fixedCredential(env.REGEN_TOKEN.trim(), 'REGEN_TOKEN');
  if (env?.REGEN_ADMIN_TOKEN_FILE) return readAgain(system, env.REGEN_ADMIN_TOKEN_FILE);
  const kept = await sources.kept();
  if (kept) return kept;
  if (ownerToken) return fixedCredential(ownerToken, 'the embedded service');
  if (env?.REGEN_PUBLISH_TOKEN) return fixedCredential(env.REGEN_PUBLISH_TOKEN.trim(), 'REGEN_PUBLISH_TOKEN');
  return undefined;
}

/** A token that stays as it is. */
export function fixedCredential(token: string, source: string): Credential {
  return { source, token: async () => token };
}

/** The file of `regen admin exec`, in which a new token replaces the old one before it expires. */
function readAgain(system: System, path: string): Credential {
  return {
    source: 'REGEN_ADMIN_TOKEN_FILE',
    token: () => tokenOfFile(system, path, 'REGEN_ADMIN_TOKEN_FILE'),
  };
}

// Not a file of ours: it may be mounted read-only, and its mode is for others to choose.
function readIfPresent(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function tokenOfFile(system: System, path: string, source = '--token-file'): Promise<string> {
  const text = path === '-' ? await readAll(system.stdin) : readIfPresent(resolve(system.cwd, path));
  if (text === undefined) throw usage(`There is no file ${path}, which ${source} names.`);
  const token = text.trim();
  if (!token) throw usage(`There is no token in ${path === '-' ? 'standard input' : path}.`);
  return token;
}
