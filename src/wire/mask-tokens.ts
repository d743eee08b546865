/** Tokens and signing secrets of a service, also as the name of a flag is written. */
const TOKEN =
  /(regen_(?:pat|key|owner)_[\w-]{4}|regen-(?:pat|key|owner)-[\w-]{20}|whsec_[\w+/]{4})[\w+/=%-]{12,}/gi;

const LONG_WORD = /[\w.-]{40,}/g;

export function listTokens(text: string): readonly string[] {
  const webTokens = text.match(LONG_WORD)?.map(findWebToken).filter(Boolean) ?? [];
  return [...(text.match(TOKEN) ?? []), ...webTokens];
}

/** Masks every token in a text. The first characters of one of a service stay, by which lists of tokens name it too. */
export function maskTokens(text: string): string {
  const masked = text.replace(TOKEN, (_, start: string) => `${start.slice(0, 14)}****`);
  return listTokens(masked).reduce((rest, token) => rest.replace(token, '***'), masked);
}

/** Finds a JSON Web Token in a word; empty if there is none. An expression alone would take quadratic time. */
function findWebToken(word: string): string {
  const start = word.search(/eyJ/i);
  const [header = '', claims = '', ...rest] = start < 0 ? [] : word.slice(start).split('.');
  const isToken = header.length >= 16 && claims.length >= 8 && rest.length > 0;
  return isToken ? word.slice(start).replace(/\.$/, '') : '';
}
