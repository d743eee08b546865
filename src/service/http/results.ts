import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Context } from '../context.js';
import { resultKey } from '../generation/files.js';
import { resultsOf } from '../generation/results.js';
import { Refused } from '../refused.js';
import { sendFile } from './send-file.js';
import { type ResultGrant, type ResultName, verifyResult } from './signed-urls.js';

type ResultRequest = FastifyRequest<{ Params: ResultName; Querystring: ResultGrant }>;

/** Adds GET and HEAD of the files that tasks made; the URL is all it takes. */
export function routeResults(app: FastifyInstance, context: Context): void {
  app.route<{ Params: ResultName; Querystring: ResultGrant }>({
    method: ['GET', 'HEAD'],
    // Fastify's own HEAD reads the whole file to throw it away.
    exposeHeadRoute: false,
    url: '/results/:taskId/:name',
    handler: (request, reply) => send(context, request, reply),
  });
}

async function send(context: Context, request: ResultRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { taskId, name } = request.params;
  if (!verifyResult(context, request.params, request.query)) {
    throw new Refused(
      'invalid_signature',
      'This URL is expired or was changed; read the status of its task for a new one.',
    );
  }
  const task = await context.database
    .selectFrom('tasks')
    .select('results')
    .where('id', '=', taskId)
    .executeTakeFirst();
  const result = resultsOf(task?.results ?? null).find((one) => one.name === name);
  if (!result) throw new Refused('not_found', 'There is no such result.');
  // It never changes, but who may have it is told by the URL alone.
  reply.header('cache-control', 'private, max-age=86400, immutable');
  return sendFile(context, request, reply, {
    key: resultKey(taskId, name),
    type: result.contentType,
    disposition: `inline; filename="${taskId}-${name}"`,
    size: result.size,
    sha256: result.sha256,
  });
}
