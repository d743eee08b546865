import type { OperationAnswer } from '../operation/call.js';
import { html, untrusted } from './html.js';
import { drawPublisher, drawTime, layOut, linkPages, listTags } from './layout.js';
import { type Draw, type PageRequest, toNodePath } from './page.js';

type Found = OperationAnswer<'node.search'>;

/** The front page: a search for nodes, all of them without words. */
export const drawSearchPage: Draw<'node.search'> = (
  { nodes, page, total, totalPages, incomplete_reason: reason }: Found,
  { query }: PageRequest,
) => {
  const search = typeof query.search === 'string' ? query.search : '';
  const count = total === 1 ? '1 node' : `${total} nodes`;
  const none = search === '' ? 'No nodes yet.' : 'No nodes found. Try fewer or shorter words.';
  const heading = search === '' ? html`Nodes` : html`Nodes for “${untrusted(search)}”`;
  return layOut({
    title: search === '' ? 'Node registry' : `${search} - Node registry`,
    summary: 'Node packs for ComfyUI.',
    search,
    body: html`<h1>${heading}</h1>
<p>${total > 0 ? count : reason ? 'No nodes found.' : none}</p>
${reason && html`<p role="status">${reason}</p>`}
<ul class="cards">${nodes.map(drawCard)}</ul>
${linkPages(page, totalPages, (other) => `/?${new URLSearchParams({ ...(search && { search }), page: String(other) })}`)}`,
  });
};

function drawCard(node: Found['nodes'][number]) {
  const { id = '', name, description, latest_version, tags, downloads } = node;
  const by = drawPublisher(node);
  return html`<li>
<h2><a href="${toNodePath(id)}">${untrusted(name ?? id, 100)}</a></h2>
<p>${untrusted(description, 240)}</p>
<p class="facts"><code>${id}</code> ${latest_version?.version} ${drawTime(latest_version?.createdAt)} ${
    by && html`by ${by}`
  } ${downloads === 1 ? '1 download' : `${downloads ?? 0} downloads`}</p>
${listTags(tags)}</li>
`;
}
