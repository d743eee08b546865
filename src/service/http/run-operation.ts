import type { OperationName } from '../../contract/index.js';
import { hashToken } from '../auth/random-tokens.js';
import type { Tx } from '../database/database.js';
import type { OperationAnswer, WriteHandler } from '../operation/call.js';
import { Refused } from '../operation/refused.js';
import { authorize, toAuthorization } from './authorize.js';
import type { AnyCall, Exchange } from './concern.js';
import {
  findStoredAnswer,
  hashRequest,
  type KeyedRequest,
  type RunningKeys,
  requireKey,
  storeAnswer,
} from './idempotency.js';

interface OperationRun {
  readonly call: AnyCall;
  readonly exchange: Exchange;
  readonly running: RunningKeys;
}

type AnyAnswer = OperationAnswer<OperationName>;
type Write = (tx: Tx) => Promise<AnyAnswer>;

/**
 * Runs the handler of one request, which is authorized and validated: in one transaction if it writes, and
 * once for its Idempotency-Key if it has one.
 */
export async function runOperation(
  call: AnyCall,
  exchange: Exchange,
  running: RunningKeys,
): Promise<AnyAnswer> {
  const run = { call, exchange, running };
  const { request, reply, route } = exchange;
  const { name, operation, handler } = route;
  // Decided: keys are for POSTs, except those whose answer holds a secret, which is never stored.
  const takesKey = operation.method === 'POST' && !operation.secret;
  const header = takesKey ? request.headers['idempotency-key'] : undefined;
  const key = header === undefined ? undefined : requireKey(header);
  if (key !== undefined) reply.header('idempotency-key', key);
  // Decided: a POST that only reads, the bulk read, runs each time.
  if ('read' in handler) return handler.read(call, call.context.database);
  if (key === undefined) return prepareWrite(handler, call, (write) => inTransaction(run, write));
  const hash = hashRequest(request.url, request.bodyHash);
  return runOnce(run, handler, { caller: nameKeyOwner(call), operation: name, key, hash });
}

/** Whose key it is. Without a bearer, the token in the body tells callers apart. */
function nameKeyOwner({ caller, body }: AnyCall): string {
  const { personal_access_token: token } = (body ?? {}) as { readonly personal_access_token?: string };
  return caller.kind === 'none' && token !== undefined ? `token:${hashToken(token)}` : caller.key;
}

/** Answers a repeated request with the stored answer, and stores the answer of a new one. */
function runOnce(
  run: OperationRun,
  handler: WriteHandler<OperationName>,
  keyed: KeyedRequest,
): Promise<AnyAnswer> {
  const { call, running } = run;
  const { reply, route } = run.exchange;
  const { database, now } = call.context;
  const { keep, replay } = handler;
  const replayStored = async (tx: Tx, stored: AnyAnswer) => {
    reply.header('idempotent-replayed', 'true');
    return replay ? replay(call, tx, stored) : stored;
  };
  return running.run(keyed, async () => {
    // Looked up before anything is prepared, which may fetch images.
    const stored = await findStoredAnswer(database, now, keyed);
    if (stored !== undefined) return inTransaction(run, (tx) => replayStored(tx, stored as AnyAnswer));
    return prepareWrite(handler, call, (write) =>
      inTransaction(run, async (tx) => {
        const storedSince = await findStoredAnswer(tx, now, keyed);
        if (storedSince !== undefined) return replayStored(tx, storedSince as AnyAnswer);
        const answer = await write(tx);
        await storeAnswer(tx, now, keyed, route.operation.status ?? 200, keep ? keep(answer) : answer);
        return answer;
      }),
    );
  });
}

async function inTransaction({ call, exchange }: OperationRun, write: Write): Promise<AnyAnswer> {
  const { database, log } = call.context;
  const access = toAuthorization(call.context, exchange.route, exchange.request);
  const answer = await database.transaction().execute(async (tx) => {
    // Left by an attempt that was rolled back.
    call.actions.length = 0;
    // Roles may have changed while the body was received.
    await authorize(tx, access);
    return write(tx);
  });
  for (const action of call.actions) log('info', 'action', { ...action });
  return answer;
}

/** Does what comes before the transaction, and undoes it if the transaction is refused. */
async function prepareWrite(
  handler: WriteHandler<OperationName>,
  call: AnyCall,
  execute: (write: Write) => Promise<AnyAnswer>,
): Promise<AnyAnswer> {
  if ('write' in handler) return execute((tx) => handler.write(call, tx));
  const prepared = await handler.prepare(call);
  try {
    return await execute((tx) => prepared.write(tx));
  } catch (error) {
    // After any other error the transaction may have been committed.
    if (error instanceof Refused) await prepared.undo();
    throw error;
  } finally {
    prepared.end?.();
  }
}
