import type { z } from 'zod';
import { Node } from '../../contract/node.js';
import { NodeVersion } from '../../contract/node-version.js';
import { invalidField } from '../operation/refused.js';

type NodeBody = z.output<typeof Node>;
type VersionBody = z.output<typeof NodeVersion>;

/** The content of a row's `details`, including the fields of admins. */
export type NodeDetails = Omit<NodeBody, 'id' | 'name'>;
export type VersionDetails = Omit<VersionBody, 'node_id' | 'version'>;

// Decided: users set the fields that are not read-only; all others are set by the service or admins and ignored in
// requests. What names a node or version has columns.
const NODE_FIELDS = listWritable(Node, ['id', 'name']);
const VERSION_FIELDS = listWritable(NodeVersion, ['node_id', 'version']);

function listWritable({ shape }: z.ZodObject, names: readonly string[]): string[] {
  const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>);
  return fields.flatMap(([name, field]) => (field.meta()?.readOnly || names.includes(name) ? [] : [name]));
}

export function pickNodeDetails(body: NodeBody): NodeDetails {
  return pickGiven(body, NODE_FIELDS);
}

export function pickVersionDetails(body: VersionBody): VersionDetails {
  return pickGiven(body, VERSION_FIELDS);
}

function pickGiven(body: Readonly<Record<string, unknown>>, fields: readonly string[]) {
  return Object.fromEntries(
    fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]),
  );
}

// Decided: the fields that users set on one publisher, node or version are limited to 128 KiB in total,
// because lists and bulk answers have up to a thousand of them.
const MAX_BYTES = 128 * 1024;

/**
 * @param subject what the fields belong to, as in the body
 * @throws Refused invalid_request if the fields are too large in total
 */
export function refuseLargeFields(fields: object, subject: 'publisher' | 'node' | 'node_version'): void {
  if (Buffer.byteLength(JSON.stringify(fields)) <= MAX_BYTES) return;
  throw invalidField(subject, `must be at most ${MAX_BYTES / 1024} KiB in total`, `The ${subject}`);
}
