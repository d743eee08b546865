import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { readFileType } from '../../disk/file-type.js';
import { findRow } from '../database/database.js';
import type { VendorCallbacks } from '../engines/upstream/callbacks.js';
import { getResultKey, parseResults } from '../generation/results.js';
import { getInputKey } from '../generation/task-files.js';
import { ACTIVE_STATUSES } from '../generation/task-states.js';
import type { Context } from '../operation/context.js';
import { Refused } from '../operation/refused.js';
import { type SignedQuery, type TaskFile, verifyTaskUrl } from '../operation/signed-urls.js';
import { sendFile } from './send-file.js';

/** Adds GET and HEAD of the files that tasks made. The signed URL is the only credential. */
export function routeResults(app: FastifyInstance, context: Context): void {
  app.route<{ Params: TaskFile; Querystring: SignedQuery }>({
    method: ['GET', 'HEAD'],
    // Fastify's own HEAD would read the whole file and discard it.
    exposeHeadRoute: false,
    url: '/results/:taskId/:name',
    handler: async (request, reply) => {
      const { taskId, name } = request.params;
      if (!verifyTaskUrl(context, 'result', [taskId, name], request.query))
        throw new Refused(
          'invalid_signature',
          'This URL is expired or modified; read the status of the task for a new one.',
        );
      const task = await findRow(context.database, 'tasks', { id: taskId });
      const result = parseResults(task?.results ?? null).find((one) => one.name === name);
      if (!result) throw new Refused('not_found', 'Result not found.');
      // It never changes, but only holders of the URL may read it.
      reply.header('cache-control', 'private, max-age=86400, immutable');
      return sendFile(context, request, reply, {
        key: getResultKey(taskId, result),
        type: result.contentType,
        disposition: `inline; filename="${taskId}-${name}"`,
        size: result.size,
        sha256: result.sha256,
      });
    },
  });
}

/** Adds GET and HEAD of the images of running tasks, for their vendors. The signed URL is the only credential. */
export function routeInputs(app: FastifyInstance, context: Context): void {
  app.route<{ Params: TaskFile; Querystring: SignedQuery }>({
    method: ['GET', 'HEAD'],
    exposeHeadRoute: false,
    url: '/inputs/:taskId/:name',
    handler: async ({ method, params, query }, reply) => {
      const { taskId, name } = params;
      if (!verifyTaskUrl(context, 'input', [taskId, name], query))
        throw new Refused('invalid_signature', 'This URL was modified.');
      const task = await findRow(context.database, 'tasks', { id: taskId });
      if (!task || !ACTIVE_STATUSES.includes(task.status))
        throw new Refused('not_found', 'The task of this image has ended.');
      const file = await context.storage.borrow(getInputKey(taskId, name));
      reply.raw.once('close', () => void file.release());
      const [{ size }, type] = await Promise.all([stat(file.path), readFileType(file.path)]);
      reply.header('cache-control', 'no-store').header('content-length', size);
      reply.type(type?.mediaType ?? 'application/octet-stream');
      return reply.send(method === 'HEAD' ? undefined : createReadStream(file.path));
    },
  });
}

/** Adds the POST with which a vendor reports on a task. The signed URL is the only credential. */
export function routeCallbacks(app: FastifyInstance, context: Context, callbacks: VendorCallbacks): void {
  app.post<{ Params: { taskId: string }; Querystring: SignedQuery }>(
    '/vendor-callbacks/:taskId',
    {
      // With the payload of the request.
      bodyLimit: context.configuration.limits.jsonBody,
      // Before the body is read.
      onRequest: async ({ params, query }) => {
        if (verifyTaskUrl(context, 'vendor-callback', [params.taskId], query)) return;
        throw new Refused('invalid_signature', 'This URL was modified.');
      },
    },
    async ({ params, body }, reply) => {
      const task = await findRow(context.database, 'tasks', { id: params.taskId });
      if (task && ACTIVE_STATUSES.includes(task.status)) await callbacks.receive(params.taskId, body);
      return reply.code(204).send();
    },
  );
}
