import MarkdownIt from 'markdown-it';
import { escapeText, Html, html, toWebAddress } from './html.js';

const FIRST_HEADING = 3;

const parser = new MarkdownIt('default', { html: false, linkify: false });

// Everything that holds text or attributes is written here; what is left are tags without either. The headings of a page
// come first, and a link or a picture that leads nowhere outside is only its text.
Object.assign(parser.renderer.rules, {
  text: (tokens, at) => escapeText(tokens[at]?.content ?? ''),
  code_inline: (tokens, at) => html`<code>${tokens[at]?.content}</code>`.text,
  code_block: (tokens, at) => html`<pre><code>${tokens[at]?.content}</code></pre>\n`.text,
  fence: (tokens, at) => html`<pre><code>${tokens[at]?.content}</code></pre>\n`.text,
  heading_open: (tokens, at) => `<h${shiftHeading(tokens[at]?.tag)}>`,
  heading_close: (tokens, at) => `</h${shiftHeading(tokens[at]?.tag)}>\n`,
  link_open: (tokens, at, _, env) => {
    const address = toWebAddress(tokens[at]?.attrGet('href') ?? undefined);
    // Links are not nested.
    env.linkEnd = address ? '</a>' : '</span>';
    return address ? html`<a href="${address.href}" rel="nofollow noopener noreferrer">`.text : '<span>';
  },
  link_close: (_tokens, _at, _, env) => env.linkEnd,
  image: (tokens, at) => {
    const token = tokens[at];
    const address = toWebAddress(token?.attrGet('src') ?? undefined);
    const alt = token?.content ?? '';
    if (address?.protocol !== 'https:') return escapeText(alt);
    return html`<img src="${address.href}" alt="${alt}" loading="lazy" referrerpolicy="no-referrer">`.text;
  },
  // The alignment of a column would be a style, which the policy of pages refuses.
  th_open: () => '<th scope="col">',
  td_open: () => '<td>',
} satisfies MarkdownIt['renderer']['rules']);

function shiftHeading(tag = 'h1'): number {
  return Math.min(6, Number(tag.slice(1)) + FIRST_HEADING - 1);
}

/** Draws Markdown from elsewhere: raw HTML in it is text, links have no weight, and pictures come by https only. */
export function drawMarkdown(text: string): Html {
  return new Html(parser.render(text));
}
