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

/** A definition as a registry lists it. */
export function toListedDefinition({
  name,
  definition,
}: Pick<FoundNode, 'name' | 'definition'>): HostNodeFields {
  return { ...definition, host_node_name: name };
}

export interface Unresolved {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface Definitions {
  readonly nodes: FoundNode[];
  readonly unresolved: Unresolved[];
  /** False where following the definitions took too much; `nodes` is empty then. */
  readonly followed?: boolean;
  /** Whether the pack certainly registers none; `unresolved` has what looks like one. */
  readonly isEmpty?: boolean;
}

// Decided: the definitions of a version take at most 4 MB together, far more than those of any published pack.
export const MAX_DEFINITION_BYTES = 4 * 1024 ** 2;

/** Bytes of a definition as it is stored. */
export function measureDefinition(definition: HostNodeFields): number {
  return Buffer.byteLength(JSON.stringify(definition));
}

export const DEFINITIONS_TOO_LARGE = `they take more than ${MAX_DEFINITION_BYTES / 1024 ** 2} MB together`;
