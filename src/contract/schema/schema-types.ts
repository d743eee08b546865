import type { Text } from './message.js';

/** A JSON Schema (draft 2020-12) as plain data. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** A problem of a value: its path within the value, and a sentence without its subject. */
export interface Problem {
  readonly path: readonly (string | number)[];
  readonly message: Text;
  /** What the sentence is about, if that is not the path itself: a file that the value names. */
  readonly about?: string;
  /** Set if another value alone would solve it: its type, range or choice is wrong. */
  readonly isOfValue?: true;
}
