import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import satisfies from 'semver/functions/satisfies.js';
import { parseProxyUrl } from '../../client/connections.js';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { regen, say, type Text } from '../../contract/schema/message.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { supportedNode, version } from '../command/version.js';
import type { Settings } from '../connect/settings.js';
import { describeOtherWriter } from '../connect/store.js';
import { exitCodes } from '../terminal/failure.js';
import { isKeychainExpected, KeychainError } from '../terminal/keychain.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';

/** One row of the report of `regen doctor`. */
export interface Finding {
  readonly check: string;
  readonly status: 'ok' | 'warn' | 'fail';
  readonly detail: string;
  readonly advice?: Text;
  /** The exit code of a command that fails for this reason. */
  readonly exit?: number;
}

export function ok(check: string, detail: string): Finding {
  return { check, status: 'ok', detail };
}

export function warn(check: string, detail: string, advice: Text): Finding {
  return { check, status: 'warn', detail, advice };
}

export function fail(check: string, detail: string, exit: number, advice: Text): Finding {
  return { check, status: 'fail', detail, exit, advice };
}

export function checkProgram({ nodeVersion }: System): Finding {
  const detail = `regen ${version} on Node ${nodeVersion}`;
  if (satisfies(nodeVersion, supportedNode)) return ok('program', detail);
  return fail('program', detail, exitCodes.usage, `Install Node ${supportedNode}.`);
}

export function checkSettings(settings: Settings, { cwd }: System): Finding {
  const path = settings.store.path;
  const certificate = settings.get('ca_file');
  if (certificate && !existsSync(resolve(cwd, certificate.value))) {
    const detail = `ca_file (from ${certificate.source}) is ${certificate.value}, which does not exist`;
    return fail(
      'settings',
      detail,
      exitCodes.usage,
      say`Fix its path: ${regen('config set', 'ca_file <path>')}`,
    );
  }
  return ok('settings', existsSync(path) ? path : `${path} (does not exist yet; defaults are used)`);
}

/** Checks where new credentials are stored, and whether the keychain responds. */
export async function checkKeychain(
  settings: Settings,
  system: Pick<System, 'env' | 'platform' | 'keychain'>,
): Promise<Finding> {
  const storage = settings.credentialStore;
  if (storage === 'file') return ok('keychain', 'not used: credential_store is file');
  if (storage === 'auto' && !isKeychainExpected(system)) {
    const why = 'not used in CI or without a desktop session; credentials are stored in private files';
    return ok('keychain', why);
  }
  try {
    await system.keychain({ action: 'read', account: 'doctor' });
    return ok('keychain', 'available; credentials are stored in it');
  } catch (error) {
    if (!(error instanceof KeychainError)) throw error;
    const advice = say`Credentials are stored in private files. To stop trying the keychain: ${regen('config set', 'credential_store file')}`;
    return warn('keychain', `not available: ${error.message}`, advice);
  }
}

export function checkProxy({ env }: System, url: string | undefined): Finding {
  const set = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) =>
    [name, name.toUpperCase()].filter((spelling) => env[spelling]).slice(0, 1),
  );
  if (set.length === 0) return ok('proxy', 'none');
  const shown = set.map((name) => `${name}=${withoutPassword(env[name] as string)}`).join(' ');
  const broken = set.find((name) => !/^no_proxy$/i.test(name) && !parseProxyUrl(env[name] as string));
  if (broken) return warn('proxy', shown, `Set ${broken} to an address such as http://host:port.`);
  const isBypassed = url !== undefined && isLoopbackHost(new URL(url).hostname);
  return ok('proxy', isBypassed ? `${shown} (not used for this machine)` : shown);
}

function withoutPassword(address: string): string {
  return address.replace(/\/\/[^@/]*@/, '//***@');
}

export function checkTerminal({ system, mode }: Output, mayAsk: boolean): Finding {
  const { stdout, stderr, env } = system;
  const facts = [
    `stdout is ${stdout.isTTY ? `a terminal of ${stdout.columns ?? '?'} columns` : 'not a terminal'}`,
    `stderr is ${stderr.isTTY ? 'a terminal' : 'not a terminal'}`,
    `TERM=${env.TERM ?? ''}`,
    mode.color === false || env.NO_COLOR ? 'color off' : 'color on terminals',
    mayAsk ? 'prompts on' : 'prompts off',
  ];
  return ok('terminal', facts.join(', '));
}

const MIN_FREE_BYTES = 1e9;

/** Folders are created when they are needed, so for a missing one the nearest existing parent is checked. */
export function checkFolder(check: string, path: string): Finding {
  const existing = findNearest(path);
  if (existing !== path && !statSync(existing).isDirectory()) {
    const detail = `${existing} is a file, but must be a folder`;
    return fail(check, detail, exitCodes.usage, 'Move or rename the file.');
  }
  try {
    accessSync(existing, constants.W_OK | constants.X_OK);
  } catch {
    const advice = 'Change its owner or mode, or set the XDG variables to use another folder.';
    return fail(check, `${existing} is not writable`, exitCodes.usage, advice);
  }
  const { bavail, bsize } = statfsSync(existing);
  const free = bavail * bsize;
  const detail = `${path}${existing === path ? '' : ' (does not exist yet)'}, ${formatBytes(free)} free`;
  const other = describeOtherWriter(path);
  if (other) return warn(check, `${detail}; it ${other.problem}`, other.fix);
  if (free < MIN_FREE_BYTES) return warn(check, detail, 'Free up disk space.');
  return ok(check, detail);
}

function findNearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearest(dirname(path));
}
