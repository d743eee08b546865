import { z } from 'zod';
import type { OperationName } from '../../contract/index.js';
import { Paging } from '../../contract/paging.js';

/** A page for people: the answer of an operation, drawn. Who may read it is what the operation says. */
export interface Page {
  /** With the path parameters of the operation. */
  readonly path: `/${string}`;
  readonly operation: OperationName;
  /** Query parameters of the page; absent: those of the operation. */
  readonly query?: z.ZodObject;
  /** Absent: HTML. */
  readonly type?: string;
}

const page = z.object({ page: Paging.shape.page });
const version = '/web/nodes/{nodeId}/versions/{version}';
const ATOM = 'application/atom+xml; charset=utf-8';

/** Every page of the service. What draws them is loaded when the first is asked for. */
export const PAGES = {
  search: { path: '/', operation: 'node.search' },
  node: { path: '/web/nodes/{nodeId}', operation: 'node.get' },
  version: { path: version, operation: 'version.get', query: page },
  changes: {
    path: `${version}/changes`,
    operation: 'version.get',
    query: z.object({ since: z.string().min(1).max(256).describe('The earlier version') }),
  },
  publisher: { path: '/web/publishers/{publisherId}', operation: 'publisher.get', query: page },
  tasks: { path: '/web/tasks', operation: 'task.list' },
  badge: { path: '/badge/{nodeId}.svg', operation: 'node.get', type: 'image/svg+xml; charset=utf-8' },
  feed: {
    path: '/web/changes.atom',
    operation: 'registry.changes',
    query: z.object({ last: z.literal(50).default(50) }),
    type: ATOM,
  },
  nodeFeed: {
    path: '/web/nodes/{nodeId}/changes.atom',
    operation: 'node.get',
    query: z.object({}),
    type: ATOM,
  },
} as const satisfies Readonly<Record<string, Page>>;

export type PageName = keyof typeof PAGES;

const SOURCES = "style-src 'self'; img-src 'self' https: data:; media-src 'self' https:; form-action 'self'";

/** Headers of pages. Nothing on them runs, and nothing embeds them. */
export const PAGE_HEADERS = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; ${SOURCES}; base-uri 'none'; frame-ancestors 'none'`,
};
