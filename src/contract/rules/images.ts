import type { z } from 'zod';
import type { Problem } from '../problems.js';
import { type Rule, rulesOf } from './rule.js';

type Fields = Readonly<Record<string, unknown>>;

// Decided: an image is raw Base64, a data URL, or an http or https URL.
/**
 * The fields, each a text or a list of texts, hold images. Only their form is judged here: what they lead to is
 * looked at by the service.
 */
export function imageValues(...fields: readonly string[]): Rule {
  return {
    fields,
    images: true,
    sentence: `${fields.join(', ')}: raw Base64, a data URL, or an http or https URL.`,
    problems: (value: Fields) =>
      textsIn(value, fields).flatMap(({ path, text }) => {
        const message = formProblem(text);
        return message === undefined ? [] : [{ path, message }];
      }),
  };
}

/** The fields of a request that hold images. */
export function imageFieldsOf(schema: z.core.$ZodType): string[] {
  return rulesOf(schema).flatMap((rule) => (rule.images ? rule.fields : []));
}

// Decided: the skin enhancer fetches images over https; the service's own origin, and loopback where the service is
// on loopback itself, are excepted.
/** URLs in the field begin with https, but for those of the service that is asked. */
export function httpsOnly(field: string): Rule {
  return {
    fields: [field],
    sentence: `A URL in ${field} begins with https.`,
    problems(value: Fields, { service }) {
      if (service === undefined) return [];
      return textsIn(value, [field])
        .filter(({ text }) => /^http:/i.test(text) && URL.canParse(text))
        .filter(({ text }) => !isOwn(new URL(text), new URL(service)))
        .map(({ path }) => ({ path, message: 'must be Base64 or a URL that begins with https' }));
    },
  };
}

function textsIn(value: Fields, fields: readonly string[]): (Pick<Problem, 'path'> & { text: string })[] {
  const places = fields.flatMap((field) => {
    const held = value[field];
    return Array.isArray(held)
      ? held.map((text: unknown, at) => ({ path: [field, at], text }))
      : [{ path: [field], text: held }];
  });
  return places.filter((place): place is typeof place & { text: string } => typeof place.text === 'string');
}

const imageDataUrl = /^data:(?:image\/[a-z0-9.+-]+|application\/octet-stream)?(?:;[a-z0-9=.+-]+)*;base64,/i;

function formProblem(text: string): string | undefined {
  if (/^https?:/i.test(text)) return URL.canParse(text) ? undefined : 'must be a valid URL';
  const data = /^data:/i.test(text);
  // A prefix only: expressions overflow the stack on megabytes.
  const prefix = data ? imageDataUrl.exec(text.slice(0, 200)) : [''];
  if (!prefix) return 'must be a data URL of an image, in Base64: data:image/png;base64,…';
  const base64 = text.slice(prefix[0]?.length);
  if (base64.trim() === '') return 'must not be empty';
  // One wrong character is looked for, rather than all right ones matched, for the same reason.
  if (!/[^A-Za-z0-9+/=\s]/.test(base64)) return undefined;
  return data
    ? 'must hold valid Base64'
    : 'must be Base64, a data URL, or a URL that begins with http or https';
}

function isOwn(url: URL, service: URL): boolean {
  return url.origin === service.origin || (isLoopback(url.hostname) && isLoopback(service.hostname));
}

function isLoopback(hostname: string): boolean {
  return /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(hostname);
}
