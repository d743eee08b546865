import { formatDetail, parseReason } from '../../contract/parse-reason.js';
import type { OperationAnswer } from '../operation/call.js';
import { isMissing, isUnavailable } from '../operation/refused.js';
import { drawDefinition, listInputs } from './draw-definition.js';
import { drawInstall } from './draw-install.js';
import { externalLink, type Html, html, toWebAddress, untrusted } from './html.js';
import { drawTable, drawTime, drawVersionStatus, layOut, linkPages, listFacts } from './layout.js';
import { drawMarkdown } from './markdown.js';
import { DOCS, type Draw, type PageRequest, toNodePath, toVersionPath } from './page.js';

/** As many drawings as a page of 30 kB holds. */
const DEFINITIONS_PER_PAGE = 8;

/** A version: its verdict, what is in it, and its definitions as the graph editor shows them. */
export const drawVersionPage: Draw<'version.get'> = async (
  version: OperationAnswer<'version.get'>,
  { read, query: asked, hasOtherNames, serviceFlag },
) => {
  const { node_id: nodeId = '', version: number = '', status, status_reason: reason, downloadUrl } = version;
  const params = { nodeId, version: number };
  const page = Number(asked.page);
  const query = { page, limit: DEFINITIONS_PER_PAGE };
  const list: Definitions = await read('hostNodes.list', { params, query }).catch((error) => {
    if (!version.from_uplink || !isUnavailable(error)) throw error;
    return { host_nodes: [], totalNumberOfPages: 0, trouble: error.message };
  });
  const readme = await readReadme(read, params);
  const path = toVersionPath(nodeId, number);
  const facts = {
    Status: drawVersionStatus(version),
    Published: drawTime(version.createdAt),
    Archive: downloadUrl && html`<a href="${downloadUrl}" rel="nofollow">node.zip</a>`,
    'SHA-256': version.archive_sha256 && html`<code>${version.archive_sha256}</code>`,
    'Operating systems': untrusted(version.supported_os?.join(', '), 200),
    Accelerators: untrusted(version.supported_accelerators?.join(', '), 200),
    ComfyUI: untrusted(version.supported_hostui_version, 100),
    Frontend: untrusted(version.supported_hostui_frontend_version, 100),
    Signature: isSigned(version)
      ? html`<a href="${`/nodes/${encodeURIComponent(nodeId)}/versions/${encodeURIComponent(number)}/statement`}">signed by this registry</a>; check it with <code>regen version verify ${nodeId} ${number}${serviceFlag}</code>`
      : undefined,
    Registry: version.from_uplink ? 'the registry behind this one' : undefined,
  };
  return layOut({
    title: `${nodeId} ${number} - Node registry`,
    body: html`<p><a href="${toNodePath(nodeId)}">${nodeId}</a></p>
<h1>${nodeId} ${number}</h1>
${listFacts(facts)}
${status === 'NodeVersionStatusFlagged' && html`<p>Only the publisher and admins see a flagged version, until an admin of the registry approves it: <a href="${DOCS}/how-packs-are-checked.md" rel="noopener noreferrer">how packs are checked</a>.</p>\n`}${reason && html`<h2 id="verdict">Verdict</h2>\n${drawVerdict(reason)}`}
${status === 'NodeVersionStatusActive' && html`<h2>Install</h2>\n${drawInstall({ id: nodeId, version: number, isDeprecated: version.deprecated, hasOtherNames, serviceFlag })}`}
${drawProvenance(version.provenance)}
${version.changelog && html`<h2>Changelog</h2>\n<p class="text">${untrusted(version.changelog, 4000)}</p>`}
${listRequirements(version.dependencies)}
<h2 id="definitions">Node definitions</h2>
${list.host_nodes.length > 0 ? html`<div class="definitions">${list.host_nodes.map(drawSection)}</div>` : html`<p>${list.trouble ?? describeNone(version.host_node_extract_status)}</p>`}
${linkPages(page, list.totalNumberOfPages, (other) => `${path}?page=${other}#definitions`)}
${readme && html`<h2 id="readme">README</h2>\n<div class="readme" tabindex="0" role="region" aria-labelledby="readme" dir="auto">${drawMarkdown(readme)}</div>`}`,
  });
};

type Version = OperationAnswer<'version.get'>;

/** What is signed when it is read: see `version verify`. */
function isSigned({ status, archive_sha256, from_uplink }: Version): boolean {
  return status === 'NodeVersionStatusActive' && archive_sha256 !== undefined && !from_uplink;
}

async function readReadme(read: PageRequest['read'], params: Record<string, string>): Promise<string> {
  try {
    return (await read('version.readme', { params })).text;
  } catch (error) {
    if (isMissing(error)) return '';
    throw error;
  }
}

const MAX_FINDINGS = 100;

/** The findings with their places, and the rest of the reason. */
function drawVerdict(reason: string): Html {
  const reasons = parseReason(reason.slice(0, 20_000));
  const found = reasons.filter(({ where }) => where !== '').slice(0, MAX_FINDINGS);
  const rows = found.map(({ where, ...reason }) => [
    html`<code>${untrusted(where, 200)}</code>`,
    untrusted(formatDetail(reason), 1000),
  ]);
  const others = reasons.filter(({ where }) => where === '').slice(0, MAX_FINDINGS);
  return html`${others.map(({ detail }) => html`<p>${untrusted(detail, 2000)}</p>\n`)}${rows.length > 0 && drawTable('Findings', ['Place', 'Finding'], rows)}`;
}

function drawProvenance(provenance: Version['provenance']): Html | undefined {
  if (!provenance) return undefined;
  const { issuer, repository, commit, ref, workflow, run } = provenance;
  return html`<h2>Provenance</h2>
<p>Published by a CI job, as its issuer vouches.</p>
${listFacts({
  Repository:
    repository && externalLink(toWebAddress(repository) ? repository : toRepository(issuer, repository)),
  Commit: commit && html`<code>${untrusted(commit, 100)}</code>`,
  'Branch or tag': untrusted(ref, 200),
  Workflow: untrusted(workflow, 200),
  Run: untrusted(run, 100),
  Issuer: externalLink(issuer),
})}`;
}

/** GitHub names repositories without its address. */
function toRepository(issuer: string, repository: string): string {
  return issuer === 'https://token.actions.githubusercontent.com'
    ? `https://github.com/${repository}`
    : repository;
}

/** With the reason why they are not known. */
type Definitions = OperationAnswer<'hostNodes.list'> & { readonly trouble?: string };
type Definition = Definitions['host_nodes'][number];

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
