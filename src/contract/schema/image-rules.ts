import type { z } from 'zod';
import { isLoopbackHost } from './loopback.js';
import { joinTexts, say } from './message.js';
import { type FieldValues, getRules, type Rule } from './rule.js';
import type { Problem } from './schema-types.js';
import { isUrl, MAX_URL, URL_TOO_LONG } from './values.js';

/** How a request has an image, in descriptions; the command line takes files instead of Base64. */
export const IMAGE_FORM = { value: 'Base64 or URL' } as const;

// Decided: an image is raw Base64, a data URL, or an http or https URL.
/**
 * The fields, each a string or a list of strings, must be images. Only their form is checked here; the
 * service checks the images themselves.
 */
export function requireImages(...fields: readonly string[]): Rule {
  return {
    fields,
    images: true,
    sentence: say`${joinTexts(
      fields.map((field) => ({ field })),
      ', ',
    )}: raw Base64, a data URL, or an http or https URL.`,
    problems: (value) =>
      listTexts(value, fields).flatMap(({ path, text }) => {
        const message = findFormProblem(text);
        return message === undefined ? [] : [{ path, message }];
      }),
  };
}

export function findImageFields(schema: z.core.$ZodType): string[] {
  return getRules(schema).flatMap((rule) => (rule.images ? rule.fields : []));
}

// Decided: the skin enhancer fetches images over https, except from the service's own origin, and from
// loopback if the service is on loopback itself.
/** URLs in the field must begin with https, except those of the service itself. */
export function requireHttps(field: string): Rule {
  return {
    fields: [field],
    sentence: say`A URL in ${{ field }} must begin with https.`,
    problems(value, { service }) {
      if (service === undefined) return [];
      return listTexts(value, [field])
        .filter(({ text }) => /^http:/i.test(text) && isUrl(text))
        .filter(({ text }) => !isOwnUrl(new URL(text), new URL(service)))
        .map(({ path }) => ({ path, message: 'is a URL, which must begin with https' }));
    },
  };
}

function listTexts(
  value: FieldValues,
  fields: readonly string[],
): (Pick<Problem, 'path'> & { text: string })[] {
  const places = fields.flatMap((field) => {
    const held = value[field];
    return Array.isArray(held)
      ? held.map((text: unknown, at) => ({ path: [field, at], text }))
      : [{ path: [field], text: held }];
  });
  return places.filter((place): place is typeof place & { text: string } => typeof place.text === 'string');
}

const IMAGE_DATA_URL = /^data:(?:image\/[a-z0-9.+-]+|application\/octet-stream)?(?:;[a-z0-9=.+-]+)*;base64,/i;

function findFormProblem(text: string): string | undefined {
  if (/^https?:/i.test(text)) {
    if (text.length > MAX_URL) return URL_TOO_LONG;
    return isUrl(text) ? undefined : 'must be a valid URL';
  }
  const data = /^data:/i.test(text);
  // Only a prefix: regular expressions overflow the stack on megabytes.
  const prefix = data ? IMAGE_DATA_URL.exec(text.slice(0, 200)) : [''];
  if (!prefix) return 'must be a data URL of an image, in Base64: data:image/png;base64,…';
  const base64 = text.slice(prefix[0]?.length);
  if (base64.trim() === '') return 'must not be empty';
  // For the same reason this looks for one wrong character instead of matching all right ones.
  if (!/[^A-Za-z0-9+/=\s]/.test(base64)) return undefined;
  return data
    ? 'must contain valid Base64'
    : 'must be Base64, a data URL, or a URL that begins with http or https';
}

function isOwnUrl(url: URL, service: URL): boolean {
  return url.origin === service.origin || (isLoopbackHost(url.hostname) && isLoopbackHost(service.hostname));
}
