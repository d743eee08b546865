import type { OperationAnswer } from '../operation/call.js';
import { externalLink, html, untrusted } from './html.js';
import { drawStatus, drawTable, drawTime, layOut, linkPages, listFacts } from './layout.js';
import { type Draw, toNodePath, toPublisherPath } from './page.js';

export const drawPublisherPage: Draw<'publisher.get'> = async (
  publisher: OperationAnswer<'publisher.get'>,
  { read, query },
) => {
  const { id = '', name, description, website, support, source_code_repo, createdAt, status } = publisher;
  const { nodes, page, totalPages } = await read('node.search', {
    query: { publisher_id: id, page: query.page, limit: 50, sort: 'name' },
  });
  const rows = nodes.map((node) => [
    html`<a href="${toNodePath(node.id ?? '')}">${untrusted(node.name ?? node.id, 100)}</a>`,
    node.latest_version?.version,
    drawTime(node.latest_version?.createdAt),
    node.downloads,
  ]);
  return layOut({
    title: `${name ?? id} - Node registry`,
    summary: description,
    body: html`<h1>${untrusted(name ?? id, 100)}</h1>
<p>${untrusted(description, 1000)}</p>
${listFacts({
  Publisher: id,
  Status: status === 'PublisherStatusBanned' ? drawStatus(status) : undefined,
  Website: externalLink(website),
  Support: externalLink(support),
  Source: externalLink(source_code_repo),
  Since: drawTime(createdAt),
})}
<h2>Nodes</h2>
${rows.length === 0 ? html`<p>No nodes yet.</p>` : drawTable('Nodes', ['Node', 'Latest version', 'Published', 'Downloads'], rows)}
${linkPages(page, totalPages, (other) => `${toPublisherPath(id)}?page=${other}`)}`,
  });
};
