import { resolve } from 'node:path';
import { readGivenFile } from '../../disk/folder-file.js';
import { usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';

/** A bearer credential and its source, as shown to people. */
export interface Credential {
  readonly source: string;
  /** Returns the current token. */
  token(): Promise<string>;
  /** Renews a token that the service refused. Returns whether there is a new one; absent if it cannot be renewed. */
  renew?(refused: string): Promise<boolean>;
}

export interface CredentialSources {
  readonly tokenFile?: string;
  /** Absent if the tokens in the environment are not for this service. */
  readonly env?: System['env'];
  /** Reads the stored credential of the service; called only if nothing else takes precedence. */
  readonly kept: () => Promise<Credential | undefined>;
  /** That of the owner of the embedded service. */
  readonly owner?: Credential;
}

/**
 * `--token-file` > REGEN_TOKEN > REGEN_ADMIN_TOKEN_FILE > the store > the embedded owner's > REGEN_PUBLISH_TOKEN.
 */
export async function chooseCredential(
  system: System,
  sources: CredentialSources,
): Promise<Credential | undefined> {
  const { tokenFile, env, owner } = sources;
  if (tokenFile) return fixedCredential(await readTokenFile(system, tokenFile), '--token-file');
  const token = env?.REGEN_TOKEN?.trim();
  if (token) return fixedCredential(token, 'REGEN_TOKEN');
  if (env?.REGEN_ADMIN_TOKEN_FILE) return createFileCredential(system, env.REGEN_ADMIN_TOKEN_FILE);
  const kept = await sources.kept();
  if (kept) return kept;
  if (owner) return owner;
  const publishToken = env?.REGEN_PUBLISH_TOKEN?.trim();
  return publishToken ? fixedCredential(publishToken, 'REGEN_PUBLISH_TOKEN') : undefined;
}

/** Creates a credential that never changes. */
export function fixedCredential(token: string, source: string): Credential {
  return { source, token: async () => token };
}

/** Reads the file of `regen admin exec` for each request, because its token is replaced before it expires. */
function createFileCredential(system: System, path: string): Credential {
  return {
    source: 'REGEN_ADMIN_TOKEN_FILE',
    token: () => readTokenFile(system, path, 'REGEN_ADMIN_TOKEN_FILE'),
  };
}

// The file belongs to the user: it may be read-only and may have any mode.
async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return (await readGivenFile(path)).toString();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

async function readTokenFile(system: System, path: string, source = '--token-file'): Promise<string> {
  const text = path === '-' ? await readAll(system.stdin) : await readIfPresent(resolve(system.cwd, path));
  if (text === undefined) throw usage(`File not found: ${path} (from ${source}).`);
  const token = text.trim();
  if (!token) throw usage(`${path === '-' ? 'Standard input' : path} has no token.`);
  return token;
}
