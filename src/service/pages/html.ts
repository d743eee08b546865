/** Markup of this service, in which everything from elsewhere is escaped. */
export class Html {
  constructor(readonly text: string) {}
}

type Value = Html | string | number | undefined | null | false | readonly Value[];

/** Creates markup: texts and numbers are escaped, markup is not, and what is absent is left out. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return new Html(parts.map((part, at) => part + write(values[at])).join(''));
}

function write(value: Value): string {
  if (value instanceof Html) return value.text;
  if (value === undefined || value === null || value === false) return '';
  return typeof value === 'object' ? value.map(write).join('') : escapeText(String(value));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for markup and attributes. Controls, which could reorder or hide what follows, and what XML forbids become visible. */
export function escapeText(text: string): string {
  return text
    .replace(/[\p{Cc}\u202a-\u202e\u2066-\u2069\u200e\u200f\ufffe\uffff]/gu, (control) =>
      /[\t\n]/.test(control) ? control : '\ufffd',
    )
    .replace(/[&<>"']/g, (character) => ENTITIES[character] as string);
}

/** A text from elsewhere, which neither turns the direction of what follows nor grows beyond `most` characters. */
export function untrusted(text: string | undefined, most = 300): Html | undefined {
  if (text === undefined || text === '') return undefined;
  const whole = [...text.slice(0, most * 2 + 2)];
  const shown = whole.length > most ? `${whole.slice(0, most).join('')}…` : whole.join('');
  return html`<bdi>${shown}</bdi>`;
}

/** @returns undefined if an address from elsewhere is not one of the web, or has a password in it */
export function toWebAddress(address: string | undefined): URL | undefined {
  const url = address !== undefined && URL.canParse(address) ? new URL(address) : undefined;
  const isWeb = url && ['https:', 'http:'].includes(url.protocol) && !url.username && !url.password;
  return isWeb ? url : undefined;
}

/** A link to an address from elsewhere; only its text if it is not a web address. */
export function externalLink(address: string | undefined): Html | undefined {
  const url = toWebAddress(address);
  return url
    ? html`<a href="${url.href}" rel="nofollow noopener noreferrer">${untrusted(address, 200)}</a>`
    : untrusted(address, 200);
}
