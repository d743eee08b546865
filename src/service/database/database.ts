import type { Kysely, Transaction } from 'kysely';
import type { Schema } from './schema.js';

export type Database = Kysely<Schema>;
export type Tx = Transaction<Schema>;
