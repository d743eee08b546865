import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { satisfies } from 'semver';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { neededNode, version } from '../command/version.js';
import type { Settings } from '../connect/settings.js';
import { exitCodes } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';
import { formatBytes } from '../terminal/text.js';
import { type Finding, fail, ok, warn } from './finding.js';

export function checkProgram({ nodeVersion }: System): Finding {
  const detail = `regen ${version} on Node ${nodeVersion}`;
  if (satisfies(nodeVersion, neededNode)) return ok('program', detail);
  return fail('program', detail, exitCodes.unexpected, `Install Node ${neededNode}.`);
}

export function checkSettings(settings: Settings, { cwd }: System): Finding {
  const path = settings.store.path;
  const certificate = settings.get('ca_file');
  if (certificate && !existsSync(resolve(cwd, certificate.value))) {
    const detail = `ca_file of ${certificate.source} is ${certificate.value}, which is not there`;
    return fail('settings', detail, exitCodes.usage, 'Fix its path: regen config set ca_file <path>');
  }
  return ok('settings', existsSync(path) ? path : `${path} (not there yet; defaults are used)`);
}

export function checkProxy({ env }: System, url: string | undefined): Finding {
  const set = ['http_proxy', 'https_proxy', 'no_proxy'].flatMap((name) =>
    [name, name.toUpperCase()].filter((spelling) => env[spelling]).slice(0, 1),
  );
  if (set.length === 0) return ok('proxy', 'none');
  const shown = set.map((name) => `${name}=${withoutPassword(env[name] as string)}`).join(' ');
  const broken = set.find((name) => !/^no_proxy$/i.test(name) && !isProxy(env[name] as string));
  if (broken) return warn('proxy', shown, `Write ${broken} as http://host:port.`);
  const around = url !== undefined && isLoopbackHost(new URL(url).hostname);
  return ok('proxy', around ? `${shown} (not used for this machine itself)` : shown);
}

function isProxy(text: string): boolean {
  const address = text.includes('://') ? text : `http://${text}`;
  return URL.canParse(address) && /^(https?|socks5):$/.test(new URL(address).protocol);
}

function withoutPassword(address: string): string {
  return address.replace(/\/\/[^@/]*@/, '//***@');
}

export function checkTerminal({ system, mode }: Output, mayAsk: boolean): Finding {
  const { stdout, stderr, env } = system;
  const facts = [
    `stdout ${stdout.isTTY ? `is a terminal of ${stdout.columns ?? '?'} columns` : 'is no terminal'}`,
    `stderr ${stderr.isTTY ? 'is a terminal' : 'is no terminal'}`,
    `TERM=${env.TERM ?? ''}`,
    mode.color === false || env.NO_COLOR ? 'colour off' : 'colour where it is a terminal',
    mayAsk ? 'questions are asked' : 'questions are not asked',
  ];
  return ok('terminal', facts.join(', '));
}

const littleSpace = 1e9;

/** A folder is made when it is needed, so one that is not there is judged by the nearest that is. */
export function checkFolder({ platform }: System, check: string, path: string): Finding {
  const place = findNearest(path);
  if (place !== path && !statSync(place).isDirectory()) {
    return fail(
      check,
      `${place} is a file, and a folder is needed there`,
      exitCodes.unexpected,
      'Move it away.',
    );
  }
  try {
    accessSync(place, constants.W_OK | constants.X_OK);
  } catch {
    const detail = `${place} cannot be written to`;
    return fail(
      check,
      detail,
      exitCodes.unexpected,
      'Change its owner or mode, or name another by XDG variables.',
    );
  }
  const { bavail, bsize } = statfsSync(place);
  const free = bavail * bsize;
  const detail = `${path}${place === path ? '' : ' (not there yet)'}, ${formatBytes(free)} free`;
  const open = platform !== 'win32' && place === path && (statSync(path).mode & 0o022) !== 0;
  if (open) return warn(check, `${detail}, and others may write there`, `chmod go-w ${path}`);
  if (free < littleSpace) return warn(check, detail, 'Make room on the disk.');
  return ok(check, detail);
}

function findNearest(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : findNearest(dirname(path));
}
