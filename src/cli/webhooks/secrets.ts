import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { NetworkError, ServiceError } from '../../client/errors.js';
import { isWebhookSecret } from '../../client/webhook.js';
import { type FlagValues, readText } from '../command/command.js';
import type { ServiceConnector } from '../connect/services.js';
import { exitCodes, Failure, usage } from '../terminal/failure.js';
import type { Output } from '../terminal/output.js';
import type { System } from '../terminal/system.js';

export interface SecretsContext {
  readonly services: ServiceConnector;
  readonly flags: FlagValues;
  readonly output: Output;
  readonly system: Pick<System, 'cwd' | 'env' | 'now'>;
  readonly signal: AbortSignal;
}

/** What may have signed a webhook: of a file, of the environment, or of the service. The newest first. */
export async function readSecrets(context: Omit<SecretsContext, 'output'>): Promise<readonly string[]> {
  const file = readText(context.flags, 'secret-file');
  if (file !== undefined) return inFile(resolve(context.system.cwd, file));
  const given = context.system.env.REGEN_WEBHOOK_SECRET;
  if (given !== undefined) return checkSecrets(given.split(/\s+/), 'REGEN_WEBHOOK_SECRET');
  return [await ofService(context)];
}

async function inFile(path: string): Promise<readonly string[]> {
  return checkSecrets((await readFile(path, 'utf8')).split(/\s+/), path);
}

function checkSecrets(words: readonly string[], source: string): readonly string[] {
  const secrets = words.filter((word) => word !== '');
  // The secret itself is not repeated.
  if (secrets.length > 0 && secrets.every(isWebhookSecret)) return secrets;
  const what = secrets.length === 0 ? 'holds no signing secret' : 'holds what is no signing secret';
  throw usage(`${source} ${what}.`, 'One is whsec_ followed by Base64; `regen webhook secret` tells yours.');
}

async function ofService({ services, signal }: Pick<SecretsContext, 'services' | 'signal'>): Promise<string> {
  const { client, name } = await services.reach();
  try {
    return (await client.webhook.secret({}, { signal })).secret;
  } catch (error) {
    if (!(error instanceof ServiceError) || ![404, 405].includes(error.status)) throw error;
    throw new Failure(`${name} does not tell what signs its webhooks.`, {
      code: 'no_webhook_secret',
      exit: exitCodes.notFound,
      hint: 'Put the secret it gave you into a file, and name it with --secret-file, or set REGEN_WEBHOOK_SECRET.',
    });
  }
}

const quietMs = 10_000;

/** The secrets in use, which are read again where a signature is of none of them: they may have been rotated. */
export class SecretsInUse {
  #secrets: readonly string[];
  #renewedAt = Number.NEGATIVE_INFINITY;

  private constructor(
    readonly context: SecretsContext,
    secrets: readonly string[],
  ) {
    this.#secrets = secrets;
  }

  static async open(context: SecretsContext): Promise<SecretsInUse> {
    return new SecretsInUse(context, await readSecrets(context));
  }

  get all(): readonly string[] {
    return this.#secrets;
  }

  /**
   * Reads them again, unless that was just done: anybody may send what is not signed.
   * @returns whether they are others now
   */
  async renew(): Promise<boolean> {
    const now = this.context.system.now();
    if (now - this.#renewedAt < quietMs) return false;
    this.#renewedAt = now;
    const before = this.#secrets;
    try {
      this.#secrets = await readSecrets(this.context);
    } catch (error) {
      this.context.signal.throwIfAborted();
      if (error instanceof NetworkError) this.context.services.forgetEmbedded();
      await this.context.output.warn(`The signing secret cannot be read again: ${(error as Error).message}`);
    }
    return this.#secrets.join() !== before.join();
  }
}
