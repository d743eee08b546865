import { z } from 'zod';
import { DateTime } from './schema/identifiers.js';
import { defineObject } from './schema/values.js';

/** DSSE: a signed text and its type. */
export const Envelope = defineObject('Envelope', {
  payloadType: z.string().describe('application/vnd.in-toto+json'),
  payload: z.string().describe('Base64 of an in-toto statement'),
  signatures: z.array(
    z.object({
      keyid: z.string().describe('Of the key, which the service publishes'),
      sig: z.string().describe('Base64 of the Ed25519 signature'),
    }),
  ),
});

export type Envelope = z.infer<typeof Envelope>;

/** A public key of the service, as RFC 8037 writes it. */
export const PublicKey = defineObject('PublicKey', {
  kid: z.string().describe('Its thumbprint (RFC 7638)'),
  kty: z.literal('OKP'),
  crv: z.literal('Ed25519'),
  x: z.string(),
});

export type PublicKey = z.infer<typeof PublicKey>;

export const StatementKeys = defineObject('StatementKeys', {
  keys: z
    .array(
      PublicKey.extend({
        pem: z.string().describe('The same key for other programs'),
        created_at: DateTime,
        retired_at: DateTime.optional().describe('When the next key took its place'),
        endorsement: Envelope.optional().describe('This key, signed with the one before it'),
      }),
    )
    .describe('The one that signs first, then the earlier ones'),
});

export type StatementKey = z.infer<typeof StatementKeys>['keys'][number];

export const STATEMENT_TYPE = 'application/vnd.in-toto+json';
export const KEY_TYPE = 'application/vnd.regen.key+json';
/** What is said of a version of a node, and of a task. */
export const VERSION_PREDICATE = 'urn:regen:version:1';
export const TASK_PREDICATE = 'urn:regen:task:1';

/** An in-toto statement, of which each kind has other facts. */
export const Statement = z.object({
  _type: z.literal('https://in-toto.io/Statement/v1'),
  subject: z.array(z.object({ name: z.string(), digest: z.object({ sha256: z.string() }) })),
  predicateType: z.string(),
  predicate: z.record(z.string(), z.unknown()),
});

export type Statement = z.infer<typeof Statement>;
