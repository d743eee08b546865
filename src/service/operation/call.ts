import type { z } from 'zod';
import type { OperationName, OperationNamed } from '../../contract/index.js';
import type { Database, Tx } from '../database/database.js';
import type { Caller } from './caller.js';
import type { Context } from './context.js';

type SchemaOutput<Schema> = [NonNullable<Schema>] extends [never]
  ? undefined
  : z.output<Extract<Schema, z.ZodType>>;

/** One request of an operation, authorized and validated. */
export interface OperationCall<Name extends OperationName> {
  readonly params: z.output<OperationNamed<Name>['params']>;
  readonly query: SchemaOutput<OperationNamed<Name>['query']>;
  readonly body: SchemaOutput<OperationNamed<Name>['body']>;
  readonly caller: Caller;
  readonly address: string;
  readonly context: Context;
  /** What the caller did so far, which is logged once it is committed. */
  readonly actions: object[];
  /** Aborted when the client disconnects before the answer. */
  readonly signal: AbortSignal;
}

/** The body of a success; undefined if the status is 204. */
export type OperationAnswer<Name extends OperationName> = SchemaOutput<OperationNamed<Name>['response']>;

/** Answers an operation that reads and changes nothing. */
export type Read<Name extends OperationName> = (
  call: OperationCall<Name>,
  database: Database,
) => Promise<OperationAnswer<Name>>;

export type Write<Name extends OperationName> = (
  call: OperationCall<Name>,
  tx: Tx,
) => Promise<OperationAnswer<Name>>;

/** A request whose preparation succeeded. */
export interface PreparedWrite<Result> {
  write(tx: Tx): Promise<Result>;
  /** Called if the write was refused. */
  undo(): Promise<void>;
  /** Called at the end, however it ended. */
  end?(): void;
}

/** Writes, with audit events and idempotency record in one transaction. */
export type WriteHandler<Name extends OperationName> = (
  | { readonly write: Write<Name> }
  /** Slow preparation runs before the transaction, because all other writes wait for a transaction. */
  | { readonly prepare: (call: OperationCall<Name>) => Promise<PreparedWrite<OperationAnswer<Name>>> }
) & {
  /** Turns the stored answer into the answer to a repeated request; absent: it is sent unchanged. */
  readonly replay?: (
    call: OperationCall<Name>,
    tx: Tx,
    stored: OperationAnswer<Name>,
  ) => Promise<OperationAnswer<Name>>;
  /** What is stored of an answer; absent: all of it. */
  readonly keep?: (answer: OperationAnswer<Name>) => OperationAnswer<Name>;
};

export type Handler<Name extends OperationName> = { readonly read: Read<Name> } | WriteHandler<Name>;

/** The handlers of all operations. Each room exports its own part of them. */
export type Handlers = { readonly [Name in OperationName]: Handler<Name> };
