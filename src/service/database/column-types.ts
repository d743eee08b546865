import type { ColumnType } from 'kysely';

// Types that both engines share: times are ISO 8601 text in UTC, JSON is text, booleans are 0 or 1.
export type Time = string;
export type Json = string;

/** Written once and never updated. */
export type Fixed<Type> = ColumnType<Type, Type, never>;
