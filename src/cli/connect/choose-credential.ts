import { resolve } from 'node:path';
import { readGivenFile } from '../../disk/folder-file.js';
import type { Target } from '../../flows/tasks/task.js';
import { usage } from '../terminal/failure.js';
import { readAll } from '../terminal/stdin.js';
import type { System } from '../terminal/system.js';
import type { CredentialStore, SignIn } from './credentials.js';
import { isNamed } from './settings.js';

/** A bearer credential and its source, as shown to people. */
export interface Credential {
  readonly source: string;
  /** Returns the current token. */
  token(): Promise<string>;
  /** Renews a token that the service refused. Returns whether there is a new one; absent if it cannot be renewed. */
  renew?(refused: string): Promise<boolean>;
}

interface CredentialSources {
  readonly target: Target;
  readonly store: CredentialStore;
  readonly tokenFile?: string | undefined;
  /** That of the owner of the embedded service. */
  readonly owner?: Credential | undefined;
  readonly toCredential: (signIn: SignIn, source: string) => Credential;
}

/**
 * `--token-file` > REGEN_KEY_FILE > REGEN_TOKEN > REGEN_ADMIN_TOKEN_FILE > REGEN_ADMIN_TOKEN > the store > the embedded owner's > REGEN_PUBLISH_TOKEN. The
 * variables are for the service that the user named. Only REGEN_KEY_FILE, which `regen exec` sets, is in place of all others
 * for any service, so that what it runs does not spend as its user.
 */
export async function chooseCredential(
  system: System,
  { target, store, tokenFile, owner, toCredential }: CredentialSources,
): Promise<Credential | undefined> {
  if (tokenFile)
    return fixedCredential(await readTokenFile(system, tokenFile, '--token-file'), '--token-file');
  // Read for each request, because `regen admin exec` replaces the token before it expires.
  const follow = (file: string, source: string) => ({
    ...{ source, token: () => readTokenFile(system, file, source) },
  });
  const { REGEN_KEY_FILE } = system.env;
  if (REGEN_KEY_FILE) return follow(REGEN_KEY_FILE, 'REGEN_KEY_FILE');
  const env: System['env'] = isNamed(target) ? system.env : {};
  const token = await readTokenVariable(env, 'REGEN_TOKEN');
  if (token) return fixedCredential(token, 'REGEN_TOKEN');
  if (env.REGEN_ADMIN_TOKEN_FILE) return follow(env.REGEN_ADMIN_TOKEN_FILE, 'REGEN_ADMIN_TOKEN_FILE');
  const adminToken = await readTokenVariable(env, 'REGEN_ADMIN_TOKEN');
  if (adminToken) return fixedCredential(adminToken, 'REGEN_ADMIN_TOKEN');
  const kept = await store.read();
  const place = store.describeStorage(kept);
  if (kept.token) return fixedCredential(kept.token, place);
  if (kept.sign_in) return toCredential(kept.sign_in, place);
  if (owner) return owner;
  const publishToken = await readTokenVariable(env, 'REGEN_PUBLISH_TOKEN');
  return publishToken ? fixedCredential(publishToken, 'REGEN_PUBLISH_TOKEN') : undefined;
}

/** Creates a credential that never changes. */
export function fixedCredential(token: string, source: string): Credential {
  return { source, token: async () => token };
}

/** Reads a file of the user, which may be read-only and may have any mode; `-` is standard input. */
export async function readTokenFile(
  system: Pick<System, 'cwd' | 'stdin'>,
  path: string,
  source: string,
): Promise<string> {
  const read = path === '-' ? readAll(system.stdin) : readGivenFile(resolve(system.cwd, path));
  const text = await read.catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'ENOENT' ? usage(`File not found: ${path} (from ${source}).`) : error;
  });
  return parseToken(text.toString(), path === '-' ? 'Standard input' : path);
}

/** @returns undefined if it is not set, or empty */
export async function readTokenVariable(env: System['env'], name: string): Promise<string | undefined> {
  const value = env[name]?.trim();
  return value ? parseToken(value, name) : undefined;
}

/** @throws Failure if there is no token, or something else with it */
export async function parseToken(text: string, place: string): Promise<string> {
  const token = text.trim();
  // Defined by RFC 6750; some services have other tokens.
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  const { refuseOthers } = await import('./explain-token.js');
  refuseOthers(token, place);
  return token;
}
