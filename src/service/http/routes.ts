import type { FastifyInstance, FastifyReply, FastifyRequest, HTTPMethods } from 'fastify';
import { contract, type OperationName } from '../../contract/index.js';
import { jsonSchema } from '../../contract/json-schema.js';
import { type Operation, operations } from '../../contract/operation.js';
import type { Context, Tx } from '../context.js';
import { Refused } from '../refused.js';
import { authenticate, type Caller } from './authenticate.js';
import { type Attempt, authorize } from './authorize.js';
import type { Answer, Call, Handler } from './handler.js';
import { handlers } from './handlers.js';
import { hashOf, RunningKeys, requireKey, storeAnswer, storedAnswer } from './idempotency.js';
import { type RateLimit, rateLimit, refuseRate } from './limits.js';
import { type Room, roomFor } from './room.js';
import { otherSpelling } from './spelling.js';
import { queryReader, requireCleanText, requireValid } from './validate.js';

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller;
    /** SHA-256 of the body as it came, where there is an Idempotency-Key. */
    bodyHash: Buffer | undefined;
  }
}

interface Shared {
  readonly context: Context;
  readonly running: RunningKeys;
  readonly limit: RateLimit;
  readonly room: Room;
}

/** Routes every operation of the contract. */
export function routeOperations(app: FastifyInstance, context: Context): void {
  app.decorateRequest('caller');
  app.decorateRequest('bodyHash');
  const limit = rateLimit(context.configuration.rateLimit, context.now);
  const room = roomFor(context.configuration.limits.generationBody);
  const shared = { context, running: new RunningKeys(), limit, room };
  for (const [name, operation] of operations(contract)) {
    routeOperation(app, shared, name as OperationName, operation);
  }
}

function routeOperation(
  app: FastifyInstance,
  shared: Shared,
  name: OperationName,
  operation: Operation,
): void {
  const { context, limit, room } = shared;
  const { status = 200, response, query, task } = operation;
  const { generationBody, jsonBody } = context.configuration.limits;
  // One cast where the table's types, which the handlers keep among themselves, meet the untyped wire.
  const handler = handlers[name] as unknown as Handler<'version.publish'>;
  const readQuery = query ? queryReader(query) : () => undefined;

  app.route({
    method: operation.method as HTTPMethods,
    url: operation.path.replace(/\{(\w+)\}/g, ':$1'),
    // A HEAD must not count as an installation.
    exposeHeadRoute: operation.method === 'GET' && 'read' in handler,
    bodyLimit: task ? generationBody : jsonBody,
    ...(response ? { schema: { response: { [status]: jsonSchema(response, 'output') } } } : {}),
    // Before the body is read: a stranger's is not worth it.
    onRequest: async (request, reply) => {
      request.caller = await admitted(context, limit, request, reply);
      requireValid(operation.params, request.params, 'path');
      await authorize(context.database, attemptOf(context, name, request));
      const elsewhere = operation.method === 'GET' && (await otherSpelling(context, request));
      if (elsewhere) return reply.redirect(elsewhere, 302);
      if (task) room(request, reply);
    },
    handler: async (request, reply) => {
      requireCleanText(request.body);
      const call = {
        params: request.params,
        query: readQuery(request.query),
        body: operation.body && requireValid(operation.body, request.body, 'body', context.baseUrl()),
        caller: request.caller,
        context,
        signal: whileAwaited(reply),
      } as Call<'version.publish'>;
      const answer = await answerOf({ ...shared, name, operation, handler, call }, request, reply);
      return reply.code(status).send(answer);
    },
  });
}

/** Who calls, once the rate limit lets the request pass. */
async function admitted(
  context: Context,
  limit: RateLimit,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Caller> {
  const pass = (who: string) => {
    const wait = limit(who);
    if (wait === 0) return;
    reply.header('retry-after', Math.ceil(wait / 1000));
    throw refuseRate(wait);
  };
  // Those without a valid credential, who may be guessing one, are told apart by their address.
  const address = `address:${request.ip}`;
  const caller = await authenticate(context, request.headers.authorization).catch((error) => {
    pass(address);
    throw error;
  });
  pass(caller.kind === 'none' ? address : caller.key);
  return caller;
}

function attemptOf({ configuration }: Context, operation: OperationName, request: FastifyRequest): Attempt {
  const { publisherId } = request.params as { publisherId?: string };
  const bearerOptional = operation === 'version.publish' && configuration.publish.bearer === 'optional';
  return { operation, caller: request.caller, publisherId, bearerOptional };
}

interface Run extends Shared {
  readonly name: OperationName;
  readonly operation: Operation;
  readonly handler: Handler<'version.publish'>;
  readonly call: Call<'version.publish'>;
}

async function answerOf(run: Run, request: FastifyRequest, reply: FastifyReply): Promise<unknown> {
  const { handler, context, call, name, operation, running } = run;
  const header = keyHeader(operation, request);
  const key = header === undefined ? undefined : requireKey(header);
  if (key !== undefined) reply.header('idempotency-key', key);
  // Decided: a POST that only reads, the bulk one, is answered anew each time.
  if ('read' in handler) return handler.read(call, context.database);
  const { keep, replay } = handler;
  const inTransaction = (work: (tx: Tx) => Promise<unknown>) =>
    context.database.transaction().execute(async (tx) => {
      // Again, because roles may have changed while the body came.
      await authorize(tx, attemptOf(context, name, request));
      return work(tx);
    });
  const prepared = (work: (write: (tx: Tx) => Promise<Published>) => Promise<unknown>) =>
    preparing(handler, call, work);
  if (key === undefined) return prepared(inTransaction);

  const keyed = {
    caller: call.caller.key,
    operation: name,
    key,
    hash: hashOf(request.url, request.bodyHash),
  };
  const again = async (tx: Tx, stored: Published) => {
    reply.header('idempotent-replayed', 'true');
    return replay ? await replay(call, tx, stored) : stored;
  };
  return running.during(keyed, async () => {
    // What was done before is not prepared anew.
    const stored = await storedAnswer(context.database, context.now, keyed);
    if (stored !== undefined) return inTransaction((tx) => again(tx, stored as Published));
    return prepared((write) =>
      inTransaction(async (tx) => {
        const meanwhile = await storedAnswer(tx, context.now, keyed);
        if (meanwhile !== undefined) return again(tx, meanwhile as Published);
        const answer = await write(tx);
        await storeAnswer(tx, context.now, keyed, operation.status ?? 200, keep ? keep(answer) : answer);
        return answer;
      }),
    );
  });
}

type Published = Answer<'version.publish'>;

/** Hands the write on, once what it needs is there. */
async function preparing(
  handler: Exclude<Handler<'version.publish'>, { read: unknown }>,
  call: Call<'version.publish'>,
  work: (write: (tx: Tx) => Promise<Published>) => Promise<unknown>,
): Promise<unknown> {
  if ('write' in handler) return work((tx) => handler.write(call, tx));
  const { write, end } = await handler.prepare(call);
  try {
    return await work(write);
  } finally {
    await end();
  }
}

/** Aborted when the connection ends before the answer is written. */
function whileAwaited({ raw }: FastifyReply): AbortSignal {
  const abort = new AbortController();
  raw.once('close', () => {
    if (!raw.writableFinished)
      abort.abort(new Refused('unavailable', 'Nobody waits for the answer any more.'));
  });
  return abort.signal;
}

// Decided: keys are for POSTs, and not for those whose answer holds a secret, which is never stored.
function keyHeader(
  { method, secret }: Operation,
  { headers }: FastifyRequest,
): string | string[] | undefined {
  return method === 'POST' && !secret ? headers['idempotency-key'] : undefined;
}
