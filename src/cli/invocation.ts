import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Client, ClientOptions } from '../client/client.js';
import type { Trace } from '../client/trace.js';
import type { Command } from './command.js';
import { CredentialStore } from './credentials.js';
import { exitCodes, Failure, usage } from './failure.js';
import { type Folders, folders } from './folders.js';
import { type LocalService, ensureLocal, findLocal } from './local.js';
import { Output } from './output.js';
import { Settings } from './settings.js';
import type { System } from './system.js';
import { chooseTarget, isNamed, type Target } from './target.js';
import { version } from './version.js';

/** The values of a command's flags by long name, as commander read them. */
export type FlagValues = Readonly<Record<string, string | boolean | readonly string[] | undefined>>;

/** A bearer credential and where it came from, in a person's words. */
export interface Credential {
  readonly token: string;
  readonly source: string;
}

/** A service that was reached. */
export interface Service {
  readonly name: string;
  readonly url: string;
  readonly client: Client;
  readonly credential: Credential | undefined;
  readonly store: CredentialStore;
  /** The embedded service, where it is one. */
  readonly local?: LocalService;
}
