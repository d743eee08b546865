import type { z } from 'zod';
import type { HostNode } from '../../contract/host-nodes.js';

export type HostNodeFields = z.output<typeof HostNode>;

export interface FoundNode {
  readonly name: string;
  /** Absent when the mapping names something of another package. */
  readonly class?: string;
  readonly file: string;
  readonly line: number;
  readonly definition: HostNodeFields;
  /** What is computed at run time: a field (`category`), or a part of one (`input_types.required.ckpt_name`). */
  readonly unknown: string[];
}

export interface Unresolved {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface Definitions {
  readonly nodes: FoundNode[];
  readonly unresolved: Unresolved[];
}
