import type { Definitions } from './definitions/definitions.js';
import type { Finding } from './scan/finding.js';

/** A Python file that could not be read, or only in part. */
export interface Unreadable {
  readonly file: string;
  readonly line: number;
  readonly message: string;
  /** Whether the host certainly cannot import the pack because of it. */
  readonly stops?: boolean;
}

export interface CodeReport extends Definitions {
  readonly followed: boolean;
  readonly unreadable: Unreadable[];
  /** By file and line. */
  readonly findings: Finding[];
}

/** What of a pack's code is read. */
export interface CodeSelection {
  /** Whether definitions are wanted; findings always are. */
  readonly follow: boolean;
  /** Python files that are not read, and why. */
  readonly unread: Readonly<Record<string, string>>;
}

/** Definitions that were too much to follow. */
export const NOT_FOLLOWED = {
  followed: false,
  nodes: [],
  unresolved: [
    {
      file: '__init__.py',
      line: 1,
      what: 'following them takes too much memory or time',
    },
  ],
};
