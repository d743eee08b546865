import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Refused } from '../operation/refused.js';

export interface OwnerRoutesOptions {
  readonly ownerToken: string;
  readonly instance: string;
  readonly version: string;
  /** The address in `service.json`. */
  readonly url: () => string;
  /** Begins a graceful shutdown. */
  readonly stop: () => void;
  /** Creates a new signing key. @returns its id */
  readonly rotateKey: () => Promise<string>;
}

const NONCE_PATTERN = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * Adds the routes of the embedded owner: a proof that this listener holds the data folder, which clients ask
 * for before they send the owner's token; stopping the service; and a new signing key.
 */
export function routeOwner(app: FastifyInstance, options: OwnerRoutesOptions): void {
  app.get<{ Querystring: { nonce?: unknown } }>('/.well-known/regen-owner', async ({ query }) => {
    if (typeof query.nonce !== 'string' || !NONCE_PATTERN.test(query.nonce)) {
      const message = 'must be 16 to 128 base64url characters, fresh for each request';
      throw new Refused('invalid_request', `nonce ${message}.`, [{ path: 'nonce', message }]);
    }
    const { instance, version, ownerToken, url } = options;
    return { instance, version, proof: ownerProof(ownerToken, query.nonce, url()) };
  });

  app.post('/.well-known/regen-owner/stop', async ({ headers }, reply) => {
    requireOwner(options, headers.authorization);
    reply.raw.once('close', options.stop);
    return reply.code(202).send({ instance: options.instance });
  });

  app.post('/.well-known/regen-owner/rotate-key', async ({ headers }) => {
    requireOwner(options, headers.authorization);
    return { kid: await options.rotateKey() };
  });
}

function requireOwner({ ownerToken }: OwnerRoutesOptions, authorization = ''): void {
  if (isSameSecret(authorization, `Bearer ${ownerToken}`)) return;
  throw new Refused('unauthenticated', "This requires the owner's token.");
}

/**
 * Proves knowledge of the owner's token without revealing it. The address is part of the proof, so that
 * another listener cannot relay the question to the real one.
 * @param url the address that the client called, without a trailing slash
 * @returns base64url
 */
export function ownerProof(ownerToken: string, nonce: string, url: string): string {
  return createHmac('sha256', ownerToken).update(`regen-owner-proof\n${nonce}\n${url}`).digest('base64url');
}

function isSameSecret(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a as Buffer, b as Buffer);
}
