import { compareDefinitions, type ListedDefinition } from '../../contract/compare-definitions.js';
import type { OperationAnswer } from '../operation/call.js';
import { html, untrusted } from './html.js';
import { drawTable, layOut } from './layout.js';
import { type Draw, type PageRequest, toNodePath, toVersionPath } from './page.js';

const MAX_PAGES = 10;
const MAX_CHANGES = 500;

/** What changed from one version to another, and what that breaks. */
export const drawChangesPage: Draw<'version.get'> = async (
  { node_id: nodeId = '', version = '' }: OperationAnswer<'version.get'>,
  { read, query },
) => {
  const { version: since = '' } = await read('version.get', {
    params: { nodeId, version: String(query.since) },
  });
  const before = await readDefinitions(read, nodeId, since);
  const after = await readDefinitions(read, nodeId, version);
  const changes = compareDefinitions(before, after);
  const breaking = changes.filter(({ breaks }) => breaks).length;
  const rows = [...changes]
    .sort((left, right) => Number(right.breaks) - Number(left.breaks))
    .slice(0, MAX_CHANGES)
    .map(({ host_node_name, change, detail, breaks }) => [
      html`<code>${untrusted(host_node_name, 100)}</code>`,
      change,
      untrusted(detail, 300),
      breaks ? html`<span class="status banned">breaks workflows</span>` : 'compatible',
    ]);
  return layOut({
    title: `${nodeId} ${since} to ${version} - Node registry`,
    body: html`<p><a href="${toNodePath(nodeId)}">${nodeId}</a></p>
<h1>${nodeId} ${since} to ${version}</h1>
<p>${summarize(changes.length, breaking)}</p>
<p><a href="${toVersionPath(nodeId, since)}">${since}</a> <a href="${toVersionPath(nodeId, version)}">${version}</a></p>
${rows.length > 0 && drawTable('Changes', ['Node', 'Change', 'Detail', 'Saved workflows'], rows)}`,
  });
};

function summarize(changes: number, breaking: number): string {
  if (changes === 0) return 'The node definitions are the same.';
  const all = changes === 1 ? '1 change' : `${changes} changes`;
  return breaking === 0
    ? `${all}, none of which breaks saved workflows.`
    : `${all}; ${breaking} can break saved workflows.`;
}

async function readDefinitions(
  read: PageRequest['read'],
  nodeId: string,
  version: string,
): Promise<readonly ListedDefinition[]> {
  const definitions: ListedDefinition[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const list = await read('hostNodes.list', { params: { nodeId, version }, query: { page, limit: 100 } });
    definitions.push(...list.host_nodes);
    if (page >= list.totalNumberOfPages) break;
  }
  return definitions;
}
