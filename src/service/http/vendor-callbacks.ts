import type { FastifyInstance } from 'fastify';
import type { Context } from '../context.js';
import type { VendorCallbacks } from '../generation/engines/upstream/callbacks.js';
import { Refused } from '../refused.js';
import { type SignedQuery, verifyVendorCallback } from './signed-urls.js';

/** Adds the POST by which a vendor tells of a task that it does; the URL is all it takes. */
export function routeVendorCallbacks(
  app: FastifyInstance,
  context: Context,
  callbacks: VendorCallbacks,
): void {
  app.post<{ Params: { taskId: string }; Querystring: SignedQuery }>(
    '/vendor-callbacks/:taskId',
    async ({ params, query, body }, reply) => {
      if (!verifyVendorCallback(context, params.taskId, query))
        throw new Refused('invalid_signature', 'This URL was changed.');
      await callbacks.came(params.taskId, body);
      return reply.code(204).send();
    },
  );
}
