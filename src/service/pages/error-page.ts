import type { Html } from './html.js';
import { html } from './html.js';
import { layOut } from './layout.js';

export function drawError(status: number, message: string): Html {
  const who = { 401: 'Sign in', 404: 'Signed in, its publisher may see more. Sign in' }[status];
  const hint = who && html`<p>${who} by running <code>regen open</code> in a terminal that is signed in.</p>`;
  return layOut({
    title: `${status} - Node registry`,
    body: html`<h1>${TITLES[status] ?? 'This page cannot be shown'}</h1>\n<p>${message}</p>${hint}`,
  });
}

/** Leads to the page of a link that signed in. */
export function drawSignedIn(path: string): Html {
  return layOut({
    title: 'Signed in - Node registry',
    body: html`<h1>Signed in</h1>\n<p><a href="${path}">Continue</a></p>`,
  });
}

const TITLES: Readonly<Record<number, string>> = {
  401: 'Sign in to see this',
  404: 'Not found',
  429: 'Too many requests',
};
