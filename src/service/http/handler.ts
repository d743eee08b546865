import type { z } from 'zod';
import type { OperationName, OperationOf } from '../../contract/index.js';
import type { Context, Database, Tx } from '../context.js';
import type { Caller } from './authenticate.js';

type Value<Schema> = [NonNullable<Schema>] extends [never] ? undefined : z.output<Extract<Schema, z.ZodType>>;

/** One request of an operation, authorized and held against its schemas. */
export interface Call<Name extends OperationName> {
  readonly params: z.output<OperationOf<Name>['params']>;
  readonly query: Value<OperationOf<Name>['query']>;
  readonly body: Value<OperationOf<Name>['body']>;
  readonly caller: Caller;
  readonly context: Context;
  /** Aborted once nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** The body of a success; undefined where the status is 204. */
export type Answer<Name extends OperationName> = Value<OperationOf<Name>['response']>;

/** Answers from what is there. */
interface Read<Name extends OperationName> {
  readonly read: (call: Call<Name>, database: Database) => Promise<Answer<Name>>;
}

/** A request that is ready to be done. */
export interface Prepared<Result> {
  write(tx: Tx): Promise<Result>;
  /** Comes always, whatever became of the write. */
  end(): Promise<void>;
}

/** Changes something: all of it, its events and its idempotency record in one transaction. */
type Write<Name extends OperationName> = (
  | { readonly write: (call: Call<Name>, tx: Tx) => Promise<Answer<Name>> }
  /** What takes its time comes before the transaction, which all other writes would wait for. */
  | { readonly prepare: (call: Call<Name>) => Promise<Prepared<Answer<Name>>> }
) & {
  /** Makes a stored answer fit to be given again; absent: it is given as it was. */
  readonly replay?: (call: Call<Name>, tx: Tx, stored: Answer<Name>) => Promise<Answer<Name>>;
  /** What is kept of an answer; absent: all of it. */
  readonly keep?: (answer: Answer<Name>) => Answer<Name>;
};

export type Handler<Name extends OperationName> = Read<Name> | Write<Name>;
