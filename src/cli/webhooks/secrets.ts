import { resolve } from 'node:path';
import { NetworkError, ServiceError } from '../../client/errors.js';
import { isWebhookSecret } from '../../client/webhook.js';
import { regen, say } from '../../contract/schema/message.js';
import { readGivenFile } from '../../disk/folder-file.js';
import { readText } from '../command/command.js';
import type { Needs } from '../connect/context.js';
import { Failure, usage } from '../terminal/failure.js';

type SecretsContext = Needs<'services' | 'flags' | 'output' | 'system' | 'signal'>;

/** The newest is first. */
interface Secrets {
  /** One of them signs what is genuine: of a service only the newest, because it replaces one that may have leaked. */
  readonly accepted: readonly string[];
  /** All with which the service signs, for receivers that have an older one. */
  readonly signing: readonly string[];
}

/** Reads the signing secrets from a file, the environment or the service. */
export async function readSecrets(context: Omit<SecretsContext, 'output'>): Promise<Secrets> {
  const file = readText(context.flags, 'secret-file');
  if (file !== undefined) return readSecretFile(resolve(context.system.cwd, file));
  const given = context.system.env.REGEN_WEBHOOK_SECRET?.trim();
  if (given) return checkSecrets(given.split(/\s+/), 'REGEN_WEBHOOK_SECRET');
  return fetchSecrets(context);
}

async function readSecretFile(path: string): Promise<Secrets> {
  return checkSecrets((await readGivenFile(path)).toString().split(/\s+/), path);
}

function checkSecrets(words: readonly string[], source: string): Secrets {
  const secrets = words.filter((word) => word !== '');
  // The secret itself is not repeated.
  if (secrets.length > 0 && secrets.every(isWebhookSecret)) return { accepted: secrets, signing: secrets };
  const what = secrets.length === 0 ? 'contains no signing secret' : 'contains an invalid signing secret';
  throw usage(
    `${source} ${what}.`,
    say`A secret is whsec_ followed by Base64. Show yours with: ${regen('webhook secret')}`,
  );
}

async function fetchSecrets({
  services,
  signal,
}: Pick<SecretsContext, 'services' | 'signal'>): Promise<Secrets> {
  const { client, name } = await services.reach();
  try {
    const { secret, previous = [] } = await client.webhook.secret({}, { signal });
    return { accepted: [secret], signing: [secret, ...previous] };
  } catch (error) {
    if (!(error instanceof ServiceError) || ![404, 405].includes(error.status)) throw error;
    throw new Failure(`${name} does not publish the signing secret of its webhooks.`, {
      code: 'no_webhook_secret',
      hint: 'Pass the secret that it gave you with --secret-file <file>, or set REGEN_WEBHOOK_SECRET.',
    });
  }
}

const MIN_RENEWAL_INTERVAL_MS = 10_000;

/** The secrets in use. They are read again if none of them made a signature: they may have been rotated. */
export class SecretsInUse {
  #renewedAt = Number.NEGATIVE_INFINITY;

  constructor(
    readonly context: SecretsContext,
    public current: Secrets,
  ) {}

  /**
   * Reads them again, but not too often: anyone may send unsigned requests.
   * @returns whether they changed
   */
  async renew(): Promise<boolean> {
    const now = this.context.system.now();
    if (now - this.#renewedAt < MIN_RENEWAL_INTERVAL_MS) return false;
    this.#renewedAt = now;
    const before = this.current.accepted;
    try {
      this.current = await readSecrets(this.context);
    } catch (error) {
      this.context.signal.throwIfAborted();
      if (error instanceof NetworkError) this.context.services.forgetEmbedded();
      await this.context.output.warn(`Could not read the signing secret again: ${(error as Error).message}`);
    }
    return this.current.accepted.join() !== before.join();
  }
}
