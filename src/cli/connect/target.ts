import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { usage } from '../terminal/failure.js';
import type { System } from '../terminal/system.js';
import type { Settings } from './settings.js';

/** Where a command goes. */
export interface Target {
  /** Name for people: a profile's, or the address. */
  readonly name: string;
  /** Absent for the embedded service, which is found, or started, when it is needed. */
  readonly baseUrl?: string;
  /** What says so: a flag, a variable, the settings file, `ledger`, or `default`. */
  readonly source: string;
}

export interface TargetFlags {
  readonly 'base-url'?: string;
  readonly profile?: string;
}

/** `--base-url` > REGEN_BASE_URL > the chosen profile > the built-in profile `local`. */
export function chooseTarget(flags: TargetFlags, env: System['env'], settings: Settings): Target {
  if (flags['base-url']) return toTarget(flags['base-url'], '--base-url');
  if (flags.profile) return findProfile(flags.profile, '--profile', settings);
  if (env.REGEN_BASE_URL) return toTarget(env.REGEN_BASE_URL, 'REGEN_BASE_URL');
  const chosen = settings.get('profile');
  return findProfile(chosen?.value ?? 'local', chosen?.source ?? 'default', settings);
}

function toTarget(baseUrl: string, source: string): Target {
  if (!/^https?:\/\/./.test(baseUrl) || !URL.canParse(baseUrl)) {
    throw usage(
      `'${baseUrl}' of ${source} is not an http or https address.`,
      `Write it as ${proposeAddress(baseUrl)}.`,
    );
  }
  return { name: baseUrl, baseUrl, source };
}

/** An address of this machine is seldom one with a certificate. */
function proposeAddress(text: string): string {
  const near = `http://${text}`;
  const isNear = /^[\w.:[\]-]+$/.test(text) && URL.canParse(near) && isLoopbackHost(new URL(near).hostname);
  return isNear ? near : 'https://registry.example.com';
}

function findProfile(name: string, source: string, settings: Settings): Target {
  if (name === 'local') return { name, source };
  const baseUrl = settings.get(`profiles.${name}.base_url`)?.value;
  if (baseUrl) return { name, baseUrl, source };
  throw usage(
    `There is no profile '${name}' (named by ${source}).`,
    `Make it with: regen config set profiles.${name}.base_url https://…`,
  );
}

/**
 * Whether somebody said where to go in this run, so that the environment's tokens are meant for it; a job that changes
 * something must not fall back to a throw-away service.
 */
export function isNamed({ source }: Target): boolean {
  return source !== 'default' && source !== 'ledger';
}
