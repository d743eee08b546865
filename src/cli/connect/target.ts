import { basename } from 'node:path';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { regen, say } from '../../contract/schema/message.js';
import type { Target } from '../../flows/tasks/task.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import { isWebAddress, type Settings } from './settings.js';

export interface TargetFlags {
  readonly 'base-url'?: string;
  readonly profile?: string;
}

/**
 * `--base-url` > REGEN_BASE_URL > the chosen profile > the built-in profile `local`.
 * @throws Failure if `--base-url` and `--profile` name different services
 */
export function chooseTarget(flags: TargetFlags, env: System['env'], settings: Settings): Target {
  if (flags['base-url']) {
    const given = toTarget(flags['base-url'], '--base-url');
    if (!flags.profile) return given;
    return requireAddress(findProfile(flags.profile, '--profile', settings, given.baseUrl), given);
  }
  if (flags.profile) return findProfile(flags.profile, '--profile', settings);
  if (env.REGEN_BASE_URL) return toTarget(env.REGEN_BASE_URL, 'REGEN_BASE_URL');
  const chosen = settings.get('profile');
  return findProfile(chosen?.value ?? 'local', chosen?.source ?? 'default', settings);
}

function requireAddress(profile: Target, { baseUrl = '' }: Target): Target {
  const toAddress = (url: string) => new URL(url).href.replace(/\/+$/, '');
  if (profile.baseUrl !== undefined && toAddress(profile.baseUrl) === toAddress(baseUrl)) return profile;
  throw usage(
    `--base-url and --profile name different services: ${baseUrl} and ${profile.baseUrl ?? 'the embedded one'}.`,
    'Pass only one of them.',
  );
}

function toTarget(baseUrl: string, source: string): Target {
  if (!isWebAddress(baseUrl)) {
    throw usage(
      `'${baseUrl}' (from ${source}) is not an http or https address.`,
      `Use an address such as ${proposeAddress(baseUrl)}.`,
    );
  }
  return { name: baseUrl, baseUrl, source };
}

/** Proposes http for an address of this machine, which rarely has a certificate. */
function proposeAddress(text: string): string {
  const address = `http://${text}`;
  const isLocal =
    /^[\w.:[\]-]+$/.test(text) && URL.canParse(address) && isLoopbackHost(new URL(address).hostname);
  return isLocal ? address : 'https://registry.example.com';
}

function findProfile(name: string, source: string, settings: Settings, address = '<url>'): Target {
  if (name === 'local') return { name, source };
  const baseUrl = settings.get(`profiles.${name}.base_url`)?.value;
  if (baseUrl) return { ...toTarget(baseUrl, `profiles.${name}.base_url`), name, profile: name, source };
  throw usage(
    `Unknown profile '${name}' (from ${source}).`,
    say`Create it with: ${regen('config set', `profiles.${name}.base_url ${address}`)}`,
  );
}

/**
 * Whether the user chose the service. Only then are the tokens in the environment sent to it, and a CI job that
 * changes something never falls back to a temporary embedded service.
 */
export function isNamed(target: Target): boolean {
  return target.source !== 'default' && target.source !== 'ledger' && !isNamedByFolder(target);
}

/** Whether the folder chose the service, in its pyproject.toml. */
export function isNamedByFolder({ source }: Target): boolean {
  return basename(source) === 'pyproject.toml';
}
