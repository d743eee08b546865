import { basename, dirname, join, resolve } from 'node:path';
import { isLoopbackHost } from '../../contract/schema/loopback.js';
import { regen, say } from '../../contract/schema/message.js';
import type { Target } from '../../flows/tasks/task.js';
import { usage } from '../terminal/failure.js';
import { SECRET_STORAGES, type SecretStorage } from '../terminal/keychain.js';
import type { System } from '../terminal/system.js';
import { findFolders } from './folders.js';
import type { Project } from './project.js';
import { Store, type Warn, warnOfOtherWriter } from './store.js';

export const FIXED_KEYS = ['profile', 'autostart', 'ca_file', 'confirm_credits', 'credential_store'];
export const PROFILE_KEYS = ['base_url', 'allow_http', 'naming'];
const PROFILE_KEY = /^profiles\.([a-z0-9][a-z0-9_-]*)\.(base_url|allow_http|naming)$/i;

/** Namings that are not files. */
const NAMINGS = ['regen', 'comfy'];

/** Completes the path in a setting: a relative one would lead to files of any folder that a command runs in. */
function toPath(key: string, value: string, folder: string): string {
  const isPath = key === 'ca_file' || (key.endsWith('.naming') && !NAMINGS.includes(value));
  return isPath && value !== '' ? resolve(folder, value) : value;
}

/** The environment variables that take precedence over settings. */
const VARIABLES: Record<string, string> = {
  profile: 'REGEN_PROFILE',
  ca_file: 'REGEN_CA_FILE',
  credential_store: 'REGEN_CREDENTIAL_STORE',
};

export interface Setting {
  readonly key: string;
  readonly value: string;
  /** The environment variable or file it comes from, or `default`. */
  readonly source: string;
}

/** A service, as settings of profiles are looked up. Neither: the embedded service, which has no such settings. */
export type ProfileOrAddress = Pick<Target, 'profile' | 'baseUrl' | 'lock'>;

// Decided: by default, a price above 100 credits needs confirmation.
const DEFAULTS: Record<string, string> = {
  profile: 'local',
  autostart: 'true',
  confirm_credits: '100',
  credential_store: 'auto',
};

/** The settings file: flat, dotted keys with text values. */
export class Settings {
  readonly store: Store;
  readonly #env: System['env'];
  readonly #cwd: string;

  /** @param project whose defaults take precedence over the settings file */
  constructor(
    system: System,
    warn: Warn,
    readonly project?: Pick<Project, 'path' | 'profile'>,
  ) {
    // A damaged file is an error: without its profiles, a command would use another service.
    const folder = findFolders(system).config;
    warnOfOtherWriter(folder, warn);
    this.store = new Store(join(folder, 'config.json'), warn, false);
    this.#env = system.env;
    this.#cwd = system.cwd;
  }

  get(key: string): Setting | undefined {
    const variable = VARIABLES[key];
    const fromEnvironment = variable && this.#env[variable];
    if (fromEnvironment) return { key, value: fromEnvironment, source: variable };
    const { path = '', profile } = this.project ?? {};
    if (key === 'profile' && profile !== undefined) return { key, value: profile, source: path };
    const stored = this.store.read()[key];
    const { path: source } = this.store;
    if (typeof stored === 'string') return { key, value: toPath(key, stored, dirname(source)), source };
    const standard = DEFAULTS[key];
    return standard === undefined ? undefined : { key, value: standard, source: 'default' };
  }

  get credentialStore(): SecretStorage {
    const { value, source } = this.get('credential_store') as Setting;
    const storage = SECRET_STORAGES.find((one) => one === value);
    if (storage) return storage;
    throw usage(
      `credential_store must be one of ${SECRET_STORAGES.join(', ')}, not '${value}' (from ${source}).`,
    );
  }

  /** Whether credentials may be sent to a service over plain http. */
  allowsHttp(service: ProfileOrAddress): boolean {
    const names = this.listProfiles(service, ({ origin }) => origin);
    return names.some((name) => this.get(`profiles.${name}.allow_http`)?.value === 'true');
  }

  /**
   * The profile that is used, or for an address alone, all profiles with this address.
   * @param part what of two addresses is compared
   */
  listProfiles(
    { profile, baseUrl }: ProfileOrAddress,
    part: (address: URL) => string = ({ href }) => trimSlash(href),
  ): string[] {
    if (profile !== undefined) return [profile];
    if (baseUrl === undefined) return [];
    return this.list().flatMap(({ key, value }) => {
      const name = /^profiles\.(.*)\.base_url$/.exec(key)?.[1];
      const isSame = URL.canParse(value) && part(new URL(value)) === part(new URL(baseUrl));
      return name !== undefined && isSame ? [name] : [];
    });
  }

  list(): Setting[] {
    const keys = new Set([...FIXED_KEYS, ...Object.keys(this.store.read())]);
    return [...keys].sort().flatMap((key) => this.get(key) ?? []);
  }

  /** @throws Failure if a setting cannot have a value */
  check(key: string, value: string): void {
    checkKey(key);
    checkValue(key, value);
    const address = `profiles.${value}.base_url`;
    if (key === 'profile' && value !== 'local' && !this.get(address))
      throw usage(
        `There is no profile '${value}'.`,
        say`Add it with: ${regen('config set', `${address} <url>`)}`,
      );
  }

  async set(key: string, value: string): Promise<void> {
    this.check(key, value);
    const kept = toPath(key, value, this.#cwd);
    await this.store.change((values) => ({ ...values, [key]: kept }));
  }

  async unset(key: string): Promise<void> {
    checkKey(key);
    await this.store.change(({ [key]: _, ...rest }) => rest);
  }
}

function isWebAddress(text: string): boolean {
  return /^https?:\/\/./.test(text) && URL.canParse(text);
}

export function trimSlash(address: string): string {
  return address.replace(/\/+$/, '');
}

export function checkKey(key: string): void {
  if (FIXED_KEYS.includes(key) || PROFILE_KEY.test(key)) return;
  throw usage(
    `Unknown setting '${key}'.`,
    `Settings are ${FIXED_KEYS.join(', ')}, profiles.<name>.base_url, profiles.<name>.allow_http and profiles.<name>.naming.`,
  );
}

/** What the values of some settings must be. */
const RULES: readonly (readonly [key: RegExp, value: RegExp, rule: string])[] = [
  [/^autostart$|\.allow_http$/, /^(true|false)$/, 'true or false'],
  [/^confirm_credits$/, /^\d{1,15}$/, 'a whole number of credits'],
  [
    /^credential_store$/,
    new RegExp(`^(${SECRET_STORAGES.join('|')})$`),
    `one of ${SECRET_STORAGES.join(', ')}`,
  ],
];

function checkValue(key: string, value: string): void {
  const broken = RULES.find(([keys, values]) => keys.test(key) && !values.test(value));
  if (broken) throw usage(`${key} must be ${broken[2]}, not '${value}'.`);
  if (key === 'profiles.local.base_url') {
    throw usage(
      "The profile 'local' is the embedded service, so its address cannot be set.",
      'Choose another name.',
    );
  }
  if (key === 'profiles.local.naming') {
    throw usage(
      "The profile 'local' is the embedded service, which uses regen's own names.",
      'Choose another profile.',
    );
  }
  if (key.endsWith('.base_url') && !isWebAddress(value)) {
    throw usage(
      `'${value}' is not an http or https address.`,
      'Use an address such as https://registry.example.com.',
    );
  }
  if (value === '')
    throw usage(`${key} needs a value.`, say`To remove it, run: ${regen('config unset', key)}`);
}

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
  const toAddress = (url: string) => trimSlash(new URL(url).href);
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

/** The variables with tokens, which are for the service that the user named. */
export const TOKEN_VARIABLES: readonly string[] = [
  ...['REGEN_TOKEN', 'REGEN_ADMIN_TOKEN_FILE', 'REGEN_ADMIN_TOKEN', 'REGEN_PUBLISH_TOKEN', 'REGEN_ID_TOKEN'],
];

/** What to do if there is a token, but no service that it is for. */
export const NAME_SERVICE =
  'Set REGEN_BASE_URL to its service, or pass --profile local to use the embedded service.';

/**
 * Whether the user chose the service. Only then are the tokens in the environment sent to it, and a CI job that
 * changes something never falls back to a temporary embedded service.
 */
export function isNamed(target: Target): boolean {
  return target.source !== 'default' && target.source !== 'ledger' && !isNamedByFolder(target);
}

/** Whether the folder chose the service, in its pyproject.toml or in a lock file. */
export function isNamedByFolder({ source, lock }: Target): boolean {
  return lock !== undefined || basename(source) === 'pyproject.toml';
}
