import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import type { NodeVersion } from '../../contract/node-version.js';
import { invalidField } from '../operation/refused.js';

// Decided: users set these fields; all others are set by the service or admins and ignored in requests.
const NODE_FIELDS = [
  'description',
  'author',
  'license',
  'category',
  'tags',
  'repository',
  'icon',
  'banner_url',
  'supported_accelerators',
  'supported_hostui_frontend_version',
  'supported_hostui_version',
  'supported_os',
  'translations',
] as const;

const VERSION_FIELDS = [
  'changelog',
  'dependencies',
  'deprecated',
  'tags',
  'supported_accelerators',
  'supported_hostui_frontend_version',
  'supported_hostui_version',
  'supported_os',
] as const;

type NodeBody = z.output<typeof Node>;
type VersionBody = z.output<typeof NodeVersion>;

/** The content of a row's `details`, including the fields of admins. */
export type NodeDetails = Pick<
  NodeBody,
  (typeof NODE_FIELDS)[number] | 'tags_admin' | 'preempted_host_node_names'
>;
export type VersionDetails = Pick<VersionBody, (typeof VERSION_FIELDS)[number] | 'tags_admin'>;

export function pickNodeDetails(body: NodeBody): NodeDetails {
  return pickGiven(body, NODE_FIELDS);
}

export function pickVersionDetails(body: VersionBody): VersionDetails {
  return pickGiven(body, VERSION_FIELDS);
}

function pickGiven<Body extends object, Field extends keyof Body>(
  body: Body,
  fields: readonly Field[],
): Pick<Body, Field> {
  const entries = fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]);
  return Object.fromEntries(entries);
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
