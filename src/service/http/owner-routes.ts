import type { FastifyInstance, FastifyRequest } from 'fastify';
import { isSameSecret } from '../../wire/same-secret.js';
import type { EngineTroubles } from '../engines/remote/troubles.js';
import type { Keys } from '../operation/identity.js';
import { Refused } from '../operation/refused.js';

export interface OwnerRoutesOptions {
  readonly keys: Pick<Keys, 'owner' | 'rotateOwner'>;
  readonly instance: string;
  readonly version: string;
  /** What makes images and videos. */
  readonly engines: Readonly<Record<string, string>>;
  readonly troubles: EngineTroubles;
  readonly now: () => number;
  /** Finds out whether the registry behind this one answers. */
  readonly inspectUplink: () => Promise<object | undefined>;
  /** Begins a graceful shutdown. */
  readonly stop: () => void;
  /** Creates a new signing key. @returns its id */
  readonly rotateKey: () => Promise<string>;
}

/** Adds the routes of the embedded owner: what runs, stopping it, and new secrets. */
export function routeOwner(app: FastifyInstance, options: OwnerRoutesOptions): void {
  const { keys, instance, version, engines, troubles, now } = options;
  // Before a body is read.
  const onRequest = async ({ headers: { authorization = '' } }: FastifyRequest) => {
    if (keys.owner !== undefined && isSameSecret(authorization, `Bearer ${keys.owner}`)) return;
    throw new Refused('unauthenticated', "This requires the owner's token.");
  };
  app.get('/.well-known/regen-owner', { onRequest }, async () => ({
    ...{ instance, version, engines },
    vendors: troubles.list(now()),
  }));

  app.get(
    '/.well-known/regen-owner/uplink',
    { onRequest },
    async () => (await options.inspectUplink()) ?? {},
  );

  app.post('/.well-known/regen-owner/stop', { onRequest }, async (_, reply) => {
    reply.raw.once('close', options.stop);
    return reply.code(202).send({ instance });
  });

  app.post('/.well-known/regen-owner/rotate-key', { onRequest }, async () => ({
    kid: await options.rotateKey(),
  }));

  app.post('/.well-known/regen-owner/rotate-token', { onRequest }, async (_, reply) => {
    await keys.rotateOwner();
    return reply.code(204).send();
  });
}
