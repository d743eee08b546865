import { createPrivateKey } from 'node:crypto';
import {
  type Envelope,
  type PublicKey,
  STATEMENT_TYPE,
  type Statement,
  type StatementKey,
} from '../../contract/statement.js';
import {
  computeThumbprint,
  type EnvelopeSigner,
  importPublicKey,
  signEnvelope,
} from '../../wire/envelope.js';
import type { Handlers, Read } from '../operation/call.js';
import type { Context } from '../operation/context.js';
import type { StatementSigner } from '../operation/identity.js';

type Facts = Pick<Statement, 'subject' | 'predicateType' | 'predicate'>;

// Decided: statements are signed when they are read, with the key of that time, and nothing of them is stored.
/** Signs a statement with the key that is not retired. */
export function signStatement({ keys }: Pick<Context, 'keys'>, facts: Facts): Envelope {
  const statement: Statement = { _type: 'https://in-toto.io/Statement/v1', ...facts };
  const signing = keys.statement.find(({ retiredAt }) => retiredAt === undefined) as StatementSigner;
  return signEnvelope(STATEMENT_TYPE, statement, toSigner(signing));
}

export function toSigner({ kid, jwk }: StatementSigner): EnvelopeSigner {
  return { kid, privateKey: createPrivateKey({ key: jwk, format: 'jwk' }) };
}

export function toPublicKey({ kty, crv, x }: StatementSigner['jwk']): PublicKey {
  return { kid: computeThumbprint({ kty, crv, x }), kty, crv, x };
}

const listKeys: Read<'service.statementKeys'> = async ({ context }) => ({
  keys: context.keys.statement.map(viewKey),
});

function viewKey({ jwk, endorsement, createdAt, retiredAt }: StatementSigner): StatementKey {
  return {
    ...toPublicKey(jwk),
    pem: importPublicKey(jwk).export({ type: 'spki', format: 'pem' }).toString(),
    created_at: createdAt,
    ...(retiredAt !== undefined && { retired_at: retiredAt }),
    ...(endorsement && { endorsement }),
  };
}

export const statementKeyHandlers = {
  'service.statementKeys': { read: listKeys },
} satisfies Partial<Handlers>;
