import { shortenStatus } from '../../contract/status-names.js';
import type { OperationAnswer } from '../operation/call.js';
import { type Html, html, untrusted } from './html.js';
import { toPublisherPath } from './page.js';

interface PageText {
  readonly title: string;
  /** For search engines and previews of links. */
  readonly summary?: string | undefined;
  readonly search?: string;
  /** The path of the Atom feed; default: that of all nodes. */
  readonly feed?: string;
  readonly body: Html;
}

export function layOut({ title, summary, search, feed = '/web/changes.atom', body }: PageText): Html {
  const about =
    summary === undefined ? undefined : html`<meta name="description" content="${summary.slice(0, 200)}">`;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<link rel="alternate" type="application/atom+xml" title="Changes" href="${feed}">
<title>${title.slice(0, 200)}</title>
${about}<link rel="stylesheet" href="/web/style.css">
</head>
<body>
<a class="skip" href="#main">Skip to content</a>
<header>
<a class="home" href="/">Node registry</a>
<form role="search" action="/" method="get">
<input type="search" name="search" value="${search ?? ''}" maxlength="200" aria-label="Search nodes" placeholder="Search nodes">
<button>Search</button>
</form>
</header>
<main id="main">
${body}
</main>
<footer><a href="/web/tasks">Your tasks</a> <a href="/openapi.json">API</a></footer>
</body>
</html>
`;
}

/** A list of names and values; those without a value are left out. */
export function listFacts(facts: Readonly<Record<string, Html | string | number | undefined>>): Html {
  const given = Object.entries(facts).filter(([, value]) => value !== undefined && value !== '');
  return html`<dl>${given.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}</dl>`;
}

/** @param rows with a cell for each heading */
export function drawTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly (Html | string | number | undefined)[])[],
): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${caption}"><table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell) => html`<td>${cell}</td>`)}</tr>\n`)}</tbody>
</table></div>`;
}

export function drawStatus(status: string | undefined): Html {
  const word = shortenStatus(status ?? '');
  return html`<span class="status ${word}">${word}</span>`;
}

/** The status of a version, and with it the message of its publisher if it is deprecated. */
export function drawVersionStatus({
  status,
  deprecated,
  deprecation_message: message,
}: OperationAnswer<'version.get'>): Html {
  return html`${drawStatus(status)}${deprecated && html` <span class="status flagged">deprecated</span>${message && html` ${untrusted(message, 1000)}`}`}`;
}

/** The publisher of a node; a link, unless only the registry behind this one has its page. */
export function drawPublisher({
  publisher,
  latest_version: latest,
}: OperationAnswer<'node.get'>): Html | undefined {
  if (publisher?.id === undefined) return undefined;
  const name = untrusted(publisher.name ?? publisher.id, 100);
  return latest?.from_uplink ? html`${name}` : html`<a href="${toPublisherPath(publisher.id)}">${name}</a>`;
}

export function drawTime(time: string | undefined): Html | undefined {
  return time === undefined ? undefined : html`<time datetime="${time}">${time.slice(0, 10)}</time>`;
}

export function listTags(tags: readonly string[] | undefined): Html | undefined {
  if (!tags?.length) return undefined;
  return html`<ul class="tags">${tags.slice(0, 20).map((tag) => html`<li>${untrusted(tag, 40)}</li>`)}</ul>`;
}

/** Links to the pages of a list. */
export function linkPages(page: number, pages: number, toPath: (page: number) => string): Html | undefined {
  if (pages < 2) return undefined;
  const before = page > 1 && html`<a rel="prev" href="${toPath(page - 1)}">Previous</a> `;
  const after = page < pages && html` <a rel="next" href="${toPath(page + 1)}">Next</a>`;
  return html`<nav aria-label="Pages" class="pages">${before}<span>Page ${page} of ${pages}</span>${after}</nav>`;
}
