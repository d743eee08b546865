import type { Client } from '../../client/client.js';
import { ServiceError } from '../../client/errors.js';
import {
  type Envelope,
  KEY_TYPE,
  type PublicKey,
  STATEMENT_TYPE,
  Statement,
  type StatementKey,
} from '../../contract/statement.js';
import { computeThumbprint, openEnvelope } from '../../wire/envelope.js';
import { FlowError } from '../flow-error.js';

/** The keys of services that this user has met. */
export interface KnownKeys {
  /** Where people find them. */
  readonly place: string;
  find(service: string): readonly PublicKey[];
  add(service: string, keys: readonly PublicKey[]): Promise<void>;
}

/** A service whose statements are verified. */
export interface SigningService {
  readonly client: Client;
  /** The name under which its keys are known. */
  readonly service: string;
  /** Whether its data is on this machine, and may be removed with its keys. */
  readonly isOwn: boolean;
  readonly knownKeys: KnownKeys;
  readonly signal: AbortSignal;
}

/** A statement that a known key signed. */
export interface Verified {
  readonly kid: string;
  readonly statement: Statement;
  /** Whether the key was unknown before. */
  readonly isNew: boolean;
}

// Decided: the keys of a service are pinned at first use. Another key is accepted if a known one has signed it; earlier ones
// stay known, for statements that were saved, and for a service that was restored from a backup.
/**
 * Verifies what a service says.
 * @param read asks the service
 * @param about what it is about, in sentences
 * @returns undefined if the service signs nothing, and never did
 * @throws FlowError not_signed, statement_invalid, key_changed
 */
export async function verifyFromService(
  context: SigningService,
  read: () => Promise<Envelope>,
  about: string,
): Promise<Verified | undefined> {
  const { service, isOwn, knownKeys } = context;
  const known = knownKeys.find(service);
  const envelope = await orMissing(read());
  if (!envelope) {
    if (known.length === 0 || isOwn) return undefined;
    throw new FlowError('not_signed', `${service} has no signed statement on ${about}, although it signs.`);
  }
  const signed = verifyWith(known, envelope, about);
  if (signed) return { ...signed, isNew: false };
  const published = await orMissing(context.client.service.statementKeys({}, { signal: context.signal }));
  const keys = (published?.keys ?? []).filter((key) => key.kid === computeThumbprint(key));
  const isTrusted = isOwn || known.length === 0;
  const accepted = isTrusted ? keys : followEndorsements(known, keys);
  const verified = verifyWith(accepted, envelope, about);
  if (!verified) throw toUnknownKeyError(context, envelope, isTrusted);
  await knownKeys.add(service, accepted.map(toKnown));
  return { ...verified, isNew: true };
}

/**
 * Verifies a statement with keys that are known.
 * @returns undefined if it names none of them
 * @throws FlowError statement_invalid if its signature by one of them is wrong, or it is not a statement
 */
export function verifyWith(
  keys: readonly PublicKey[],
  envelope: Envelope,
  about: string,
): Omit<Verified, 'isNew'> | undefined {
  const [named] = envelope.signatures.filter(({ keyid }) => keys.some(({ kid }) => kid === keyid));
  if (!named) return undefined;
  const opened = openEnvelope(STATEMENT_TYPE, envelope, keys);
  if (!opened)
    throw new FlowError(
      'statement_invalid',
      `The statement on ${about} was changed: its signature by the key ${named.keyid} is not valid.`,
    );
  const read = Statement.safeParse(opened.value);
  if (read.success) return { kid: opened.kid, statement: read.data };
  throw new FlowError('statement_invalid', `What the service signed on ${about} is not a statement.`);
}

/** The keys that a known one vouches for, directly or through others. */
function followEndorsements(known: readonly PublicKey[], published: readonly StatementKey[]): PublicKey[] {
  const accepted = [...known];
  for (let before = -1; before < accepted.length; ) {
    before = accepted.length;
    for (const key of published) {
      if (accepted.some(({ kid }) => kid === key.kid)) continue;
      const endorsed = key.endorsement && openEnvelope(KEY_TYPE, key.endorsement, accepted)?.value;
      if ((endorsed as Partial<PublicKey> | undefined)?.x === key.x) accepted.push(key);
    }
  }
  return accepted;
}

function toUnknownKeyError(
  { service, knownKeys }: SigningService,
  { signatures }: Envelope,
  isFirst: boolean,
): FlowError {
  const kid = signatures[0]?.keyid ?? 'none';
  return isFirst
    ? new FlowError('statement_invalid', `${service} does not publish the key ${kid}, with which it signs.`)
    : new FlowError('key_changed', `${service} signs with the key ${kid}, for which no known key vouches.`, {
        subject: knownKeys.place,
      });
}

const toKnown = ({ kid, kty, crv, x }: PublicKey): PublicKey => ({ kid, kty, crv, x });

/** @returns undefined from a service that does not have it */
async function orMissing<Answer>(answer: Promise<Answer>): Promise<Answer | undefined> {
  return answer.catch((error) => {
    if (error instanceof ServiceError && error.status === 404) return undefined;
    throw error;
  });
}
