import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { Refused } from '../refused.js';

export interface OwnerDoor {
  readonly ownerToken: string;
  readonly instance: string;
  readonly version: string;
  /** The address `service.json` names. */
  readonly url: () => string;
  /** Begins a graceful end. */
  readonly stop: () => void;
  /** Makes a new signing key. @returns its id */
  readonly rotateKey: () => Promise<string>;
}

const nonceForm = /^[A-Za-z0-9_-]{16,128}$/;

/**
 * The owner's way in: the proof by which a client knows, before it sends the owner's token, that this listener holds
 * the same data folder; the owner's stop, and a new signing key.
 */
export function routeOwner(app: FastifyInstance, door: OwnerDoor): void {
  app.get<{ Querystring: { nonce?: unknown } }>('/.well-known/regen-owner', async ({ query }) => {
    if (typeof query.nonce !== 'string' || !nonceForm.test(query.nonce)) {
      const message = 'must be 16 to 128 base64url characters, fresh for each request';
      throw new Refused('invalid_request', `nonce ${message}.`, [{ path: 'nonce', message }]);
    }
    const { instance, version, ownerToken } = door;
    return { instance, version, proof: ownerProof(ownerToken, query.nonce, door.url()) };
  });

  app.post('/.well-known/regen-owner/stop', async ({ headers }, reply) => {
    requireOwner(door, headers.authorization);
    reply.raw.once('close', door.stop);
    return reply.code(202).send({ instance: door.instance });
  });

  app.post('/.well-known/regen-owner/rotate-key', async ({ headers }) => {
    requireOwner(door, headers.authorization);
    return { kid: await door.rotateKey() };
  });
}

function requireOwner({ ownerToken }: OwnerDoor, authorization = ''): void {
  if (sameSecret(authorization, `Bearer ${ownerToken}`)) return;
  throw new Refused('unauthenticated', "Only the owner's token does this.");
}

/**
 * Proves knowledge of the owner's token without showing it. The address is part of it, so that another listener
 * cannot pass the question on to the real one.
 * @param url the address the client asked, without a trailing slash
 * @returns base64url
 */
export function ownerProof(ownerToken: string, nonce: string, url: string): string {
  return createHmac('sha256', ownerToken).update(`regen-owner-proof\n${nonce}\n${url}`).digest('base64url');
}

function sameSecret(left: string, right: string): boolean {
  const [a, b] = [left, right].map((text) => createHash('sha256').update(text).digest());
  return timingSafeEqual(a as Buffer, b as Buffer);
}
