import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { authenticateReader, credentialRequired } from './authenticate.js';
import type { BodyBudget } from './bodies.js';
import { admitCaller, type RateLimit } from './rate-limit.js';

/** Serves tools to agents: POST /mcp, each request on its own. */
export function routeAgents(
  app: FastifyInstance,
  { context, takeRequest }: { readonly context: Context; readonly takeRequest: RateLimit },
  takeMemory: BodyBudget,
): void {
  const { configuration, baseUrl } = context;
  const bodyLimit = configuration.limits.generationBody;
  const origins = configuration.cors.origins.map((origin) => new URL(origin).origin);

  // A page of another site cannot read the answer, but it could have a browser send the request.
  const refuseOtherOrigin = ({ headers: { origin } }: FastifyRequest) => {
    if (origin === undefined || origin === new URL(baseUrl()).origin || origins.includes(origin)) return;
    throw new Refused('forbidden', 'Pages of other sites cannot use this service.');
  };

  app.post('/mcp', {
    config: { countsCallers: true },
    bodyLimit,
    onRequest: async (request, reply) => {
      refuseOtherOrigin(request);
      request.caller = await admitCaller(takeRequest, request, () => authenticateReader(context, request));
      // Decided: agents need a credential for all of it. A refusal tells their programs where to sign in.
      if (request.caller.kind === 'none') throw credentialRequired();
      takeMemory(request, reply, bodyLimit);
    },
    handler: async (request, reply) => {
      const { answerAgent } = await import('./answer-agent.js');
      const { status, answer } = await answerAgent(app, context, request);
      return reply.code(status).headers({ 'cache-control': 'no-store' }).send(answer);
    },
  });
}
