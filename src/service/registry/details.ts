import type { z } from 'zod';
import type { Node } from '../../contract/node.js';
import type { NodeVersion } from '../../contract/node-version.js';
import { Refused } from '../refused.js';

// Decided: these are the fields people set; all others are the service's or the admins' and ignored in requests.
const nodeFields = [
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

const versionFields = [
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

/** What a row's `details` hold, admins' fields included. */
export type NodeDetails = Pick<
  NodeBody,
  (typeof nodeFields)[number] | 'tags_admin' | 'preempted_host_node_names'
>;
export type VersionDetails = Pick<VersionBody, (typeof versionFields)[number] | 'tags_admin'>;

export function nodeDetailsGiven(body: NodeBody): NodeDetails {
  return given(body, nodeFields);
}

export function versionDetailsGiven(body: VersionBody): VersionDetails {
  return given(body, versionFields);
}

function given<Body extends object, Field extends keyof Body>(
  body: Body,
  fields: readonly Field[],
): Pick<Body, Field> {
  const entries = fields.filter((field) => body[field] !== undefined).map((field) => [field, body[field]]);
  return Object.fromEntries(entries);
}

// Decided: the fields people set on one publisher, node or version hold at most 128 KiB together, because lists and
// bulk answers repeat them up to a thousand times.
const mostBytes = 128 * 1024;

/**
 * @param of where the fields stand in the body
 * @throws Refused invalid_request where the fields are too large together
 */
export function refuseLarge(fields: object, of: 'publisher' | 'node' | 'node_version'): void {
  if (Buffer.byteLength(JSON.stringify(fields)) <= mostBytes) return;
  const message = `must hold at most ${mostBytes / 1024} KiB in all its fields together`;
  throw new Refused('invalid_request', `The ${of} ${message}.`, [{ path: of, message }]);
}

/** The lower-case text that a search looks through. */
export function searchText(id: string, name: string, { description = '', tags = [] }: NodeDetails): string {
  return [id, name, description, ...tags].join('\n').toLowerCase();
}
