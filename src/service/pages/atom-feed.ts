import type { OperationAnswer } from '../operation/call.js';
import { type Html, html } from './html.js';
import { type Draw, toNodePath, toPublisherPath, toVersionPath } from './page.js';

/** The last changes of all nodes, as an Atom feed. */
export const drawFeed: Draw<'registry.changes'> = (answer, { baseUrl }) =>
  writeFeed({ title: 'Node registry', of: '/', feed: '/web/changes.atom', baseUrl }, answer);

/** The same of one node. */
export const drawNodeFeed: Draw<'node.get'> = async ({ id = '', name }, { baseUrl, read }) => {
  const answer = await read('registry.changes', { query: { node_id: id, last: 50 } });
  const path = toNodePath(id);
  return writeFeed({ title: name ?? id, of: path, feed: `${path}/changes.atom`, baseUrl }, answer);
};

type Changes = OperationAnswer<'registry.changes'>;

interface FeedText {
  readonly title: string;
  /** The paths of the page that it is about, and of the feed. */
  readonly of: string;
  readonly feed: string;
  readonly baseUrl: string;
}

function writeFeed({ title, of, feed, baseUrl }: FeedText, { changes }: Changes): Html {
  const newest = [...changes].reverse();
  return html`<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom">
<id>${baseUrl + feed}</id>
<title>${title.slice(0, 200)}</title>
<updated>${newest[0]?.at ?? '1970-01-01T00:00:00.000Z'}</updated>
<author><name>Node registry</name></author>
<link rel="self" type="application/atom+xml" href="${baseUrl + feed}"/>
<link rel="alternate" type="text/html" href="${baseUrl + of}"/>
${newest.map(
  (
    change,
  ) => html`<entry><id>${baseUrl}/web/changes.atom#${change.cursor}</id><title>${describeChange(change)}</title><updated>${change.at}</updated><link rel="alternate" type="text/html" href="${baseUrl + findPath(change)}"/></entry>
`,
)}</feed>
`;
}

const PREDICATES: Readonly<Record<string, string>> = {
  created: 'was created',
  deleted: 'was deleted',
  undeprecated: 'is no longer deprecated',
};

type Change = Changes['changes'][number];

function describeChange({ change, node_id, version, publisher_id }: Change): string {
  const word = change.split('.').at(-1) ?? '';
  const subject =
    node_id === undefined ? `Publisher ${publisher_id}` : [node_id, version].filter(Boolean).join(' ');
  return `${subject} ${PREDICATES[word] ?? `is ${word}`}`;
}

function findPath({ node_id, version, publisher_id = '' }: Change): string {
  if (node_id === undefined) return toPublisherPath(publisher_id);
  return version === undefined ? toNodePath(node_id) : toVersionPath(node_id, version);
}
