import { isRecord, parseJson } from '../../contract/json.js';
import type { OperationAnswer } from '../operation/call.js';
import { drawInstall } from './draw-install.js';
import { externalLink, type Html, html, untrusted } from './html.js';
import {
  drawPublisher,
  drawStatus,
  drawTable,
  drawTime,
  drawVersionStatus,
  layOut,
  listFacts,
  listTags,
} from './layout.js';
import { type Draw, toNodePath, toVersionPath } from './page.js';

const MAX_VERSIONS = 200;

export const drawNodePage: Draw<'node.get'> = async (
  node: OperationAnswer<'node.get'>,
  { read, hasOtherNames, serviceFlag },
) => {
  const { id = '', name, description, latest_version: latest, repository, tags, downloads } = node;
  const versions = await read('version.list', { params: { nodeId: id } });
  const shown = versions.slice(0, MAX_VERSIONS);
  return layOut({
    title: `${name ?? id} - Node registry`,
    summary: description,
    feed: `${toNodePath(id)}/changes.atom`,
    body: html`<h1>${untrusted(name ?? id, 100)}</h1>
<p>${untrusted(description, 1000)}</p>
${listTags(tags)}
${node.status !== 'NodeStatusActive' && html`<p role="status">${drawStatus(node.status)} ${untrusted(node.status_detail, 1000)}</p>`}
<h2>Install</h2>
${latest ? drawInstall({ id, isDeprecated: latest.deprecated, hasOtherNames, serviceFlag }) : html`<p>No version is active yet.</p>`}
<h2>About</h2>
${listFacts({
  Node: html`<code>${id}</code>`,
  Publisher: drawPublisher(node),
  Author: untrusted(node.author, 100),
  'Latest version':
    latest?.version && html`<a href="${toVersionPath(id, latest.version)}">${latest.version}</a>`,
  Repository: externalLink(repository),
  License: drawLicense(node.license),
  'Operating systems': untrusted(node.supported_os?.join(', '), 200),
  Accelerators: untrusted(node.supported_accelerators?.join(', '), 200),
  Downloads: downloads,
  Created: drawTime(node.created_at),
})}
<h2>Versions</h2>
${versions.length === 0 ? html`<p>No versions yet.</p>` : drawTable('Versions', ['Version', 'Status', 'Published', 'Changes'], shown.map(drawVersion(id, shown)))}
${versions.length > MAX_VERSIONS && html`<p>The newest ${MAX_VERSIONS} of ${versions.length} are shown.</p>`}`,
  });
};

/** Manifests may name the file instead of the license, and other clients send their table as JSON. */
function drawLicense(given: string | undefined): Html | undefined {
  const parsed = parseJson(given ?? '');
  const { file, text } = isRecord(parsed) ? parsed : {};
  const license = [file, text, given].find((one): one is string => typeof one === 'string');
  const isFile =
    (license !== undefined && license === file) ||
    /^(?:licen[cs]e|copying)(?:[.-]\w+)?$/i.test(license?.split('/').at(-1) ?? '');
  return isFile ? html`see the file ${untrusted(license, 100)} in the archive` : untrusted(license, 100);
}

type Versions = OperationAnswer<'version.list'>;

const drawVersion =
  (id: string, all: Versions) =>
  (one: Versions[number], at: number): (Html | undefined)[] => {
    const { version = '', createdAt } = one;
    const before = all[at + 1]?.version;
    const path = toVersionPath(id, version);
    const since = before && html`<a href="${path}/changes?since=${before}">since ${before}</a>`;
    return [
      html`<a href="${path}">${version}</a>`,
      drawVersionStatus(one),
      drawTime(createdAt),
      since || undefined,
    ];
  };
