import type { OperationAnswer } from '../operation/call.js';
import { drawDefinition, listInputs } from './draw-definition.js';
import { type Html, html, untrusted } from './html.js';
import { drawStatus, drawTable, drawTime, layOut, linkPages, listFacts } from './layout.js';
import { type Draw, toNodePath, toVersionPath } from './page.js';

/** As many drawings as a page of 30 kB holds. */
const DEFINITIONS_PER_PAGE = 8;

/** A version: its verdict, what is in it, and its definitions as the graph editor shows them. */
export const drawVersionPage: Draw<'version.get'> = async (
  version: OperationAnswer<'version.get'>,
  { read, query },
) => {
  const { node_id: nodeId = '', version: number = '', status, status_reason: reason, downloadUrl } = version;
  const params = { nodeId, version: number };
  const page = Number(query.page);
  const list = await read('hostNodes.list', { params, query: { page, limit: DEFINITIONS_PER_PAGE } });
  const path = toVersionPath(nodeId, number);
  const facts = {
    Status: html`${drawStatus(status)}${version.deprecated && html` <span class="status flagged">deprecated</span>`}`,
    Published: drawTime(version.createdAt),
    Archive: downloadUrl && html`<a href="${downloadUrl}" rel="nofollow">node.zip</a>`,
    'SHA-256': version.archive_sha256 && html`<code>${version.archive_sha256}</code>`,
    'Operating systems': untrusted(version.supported_os?.join(', '), 200),
    Accelerators: untrusted(version.supported_accelerators?.join(', '), 200),
    ComfyUI: untrusted(version.supported_hostui_version, 100),
    Frontend: untrusted(version.supported_hostui_frontend_version, 100),
    Registry: version.from_uplink ? 'the registry behind this one' : undefined,
  };
  return layOut({
    title: `${nodeId} ${number} - Node registry`,
    body: html`<p><a href="${toNodePath(nodeId)}">${nodeId}</a></p>
<h1>${nodeId} ${number}</h1>
${listFacts(facts)}
${reason && html`<h2>Verdict</h2>\n<p class="text">${untrusted(reason, 10_000)}</p>`}
${version.changelog && html`<h2>Changelog</h2>\n<p class="text">${untrusted(version.changelog, 4000)}</p>`}
${listRequirements(version.dependencies)}
<h2 id="definitions">Node definitions</h2>
${list.host_nodes.length === 0 ? html`<p>${describeNone(version.host_node_extract_status)}</p>` : html`<div class="definitions">${list.host_nodes.map(drawSection)}</div>`}
${linkPages(page, list.totalNumberOfPages, (other) => `${path}?page=${other}#definitions`)}`,
  });
};

type Definition = OperationAnswer<'hostNodes.list'>['host_nodes'][number];

function drawSection(definition: Definition): Html {
  const name = definition.host_node_name ?? '';
  const inputs = listInputs(definition);
  return html`<section>
<h3>${untrusted(name, 100)}</h3>
<p>${untrusted(definition.description, 400)}</p>
${drawDefinition(definition)}
${inputs.length > 0 && html`<details><summary>Inputs</summary>${drawTable(`Inputs of ${name.slice(0, 100)}`, ['Input', 'Type', 'Required', 'Value'], inputs)}</details>`}
</section>
`;
}

function describeNone(status: string | undefined): string {
  if (status === 'pending') return 'They are being read.';
  if (status === 'failed') return 'They could not be read from the archive.';
  return 'It has none.';
}

function listRequirements(dependencies: readonly string[] | undefined): Html | undefined {
  if (!dependencies?.length) return undefined;
  const rows = dependencies.slice(0, 100).map((one) => html`<li><code>${untrusted(one, 200)}</code></li>\n`);
  return html`<h2>Python requirements</h2>\n<ul>${rows}</ul>`;
}
