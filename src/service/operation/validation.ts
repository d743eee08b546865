import type { z } from 'zod';
import { checkValue } from '../../contract/schema/check.js';
import { describeFields, type FieldDescription } from '../../contract/schema/fields.js';
import { joinTexts, MAX_PROBLEMS, say, type Text } from '../../contract/schema/message.js';
import { parseTexts } from '../../contract/schema/parse-text.js';
import type { RuleContext } from '../../contract/schema/rule.js';
import type { Problem } from '../../contract/schema/schema-types.js';
import { findNearest } from '../../wire/nearest.js';
import { MAX_VALUES, tooManyValues } from './json-limits.js';
import { invalidFields, Refused } from './refused.js';

/** A limit on text of the request that is quoted in an answer. */
const MAX_CHARACTERS = 300;

/**
 * @param root the path of a problem with the value itself
 * @param ruleContext the service's address and limits, for rules that depend on them
 * @throws Refused invalid_request with every problem
 */
export function requireValid<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  root: string,
  ruleContext: RuleContext = {},
): z.output<Schema> {
  const checked = checkValue(schema, value, ruleContext);
  if (checked.ok) return checked.value;
  throw invalidRequest(checked.problems, root);
}

/**
 * Creates a function that parses a query string by a schema; without one, by the schema of no parameters.
 * @returns a function that throws Refused invalid_request for unknown names and invalid values
 */
export function createQueryReader<Schema extends z.ZodObject>(
  schema: Schema | undefined,
): (query: unknown) => z.output<Schema> | undefined {
  const known: [string, FieldDescription][] = Object.entries(schema ? describeFields(schema) : {});
  const names = known.map(([name]) => name);
  return (query) => {
    const texts = query as Record<string, string | string[] | undefined>;
    const unknown = Object.keys(texts).filter((name) => !names.includes(name));
    if (unknown.length > 0) throw unknownParameters(unknown, names);
    if (!schema) return undefined;
    const given = known.filter(([name]) => texts[name] !== undefined);
    const values = given.map(([name, description]) => [
      name,
      parseTexts(description, [texts[name] as string].flat()),
    ]);
    return requireValid(schema, Object.fromEntries(values), 'query');
  };
}

// Decided: unknown query parameters are refused, because a filter that is ignored answers with too much.
function unknownParameters(unknown: readonly string[], known: readonly string[]): Refused {
  const problems = unknown.slice(0, MAX_PROBLEMS).map((name) => {
    const nearest = findNearest(name.slice(0, 100), known);
    const fields = known.map((field) => ({ field }));
    const others = known.length > 0 ? say`known are ${joinTexts(fields, ', ')}` : 'this operation has none';
    const help = nearest === undefined ? say`; ${others}` : say` (did you mean ${{ field: nearest }}?)`;
    return { path: [name], message: say`is not a known query parameter${help}` };
  });
  return invalidRequest(problems, 'query');
}

/** @throws Refused invalid_request for invalid percent-encoding and characters that cannot be stored */
export function requireCleanUrl(url: string, params: unknown, query: unknown): void {
  const mark = url.indexOf('?');
  if (mark >= 0) {
    try {
      decodeURIComponent(url.slice(mark + 1));
    } catch {
      throw new Refused('invalid_request', 'The query string contains invalid percent-encoding.');
    }
  }
  requireCleanText(params);
  requireCleanText(query);
}

/**
 * Refuses texts, including field names, that cannot be stored unchanged: NUL truncates them and a lone
 * surrogate is replaced. Not recursive, because the client chooses the nesting.
 * @throws Refused invalid_request with the fields; too_large if there are too many values
 */
export function requireCleanText(value: unknown): void {
  const problems: Problem[] = [];
  const open: { value: unknown; place: ValuePlace }[] = [{ value, place: { key: '' } }];
  let values = 0;
  for (let next = open.pop(); next && problems.length < MAX_PROBLEMS; next = open.pop()) {
    const { value: current, place } = next;
    if (typeof current === 'string' && !isClean(current))
      problems.push({ path: toPath(place), message: UNCLEAN_MESSAGE });
    if (typeof current !== 'object' || current === null) continue;
    values += Array.isArray(current) ? current.length : Object.keys(current).length;
    if (values > MAX_VALUES) throw tooManyValues();
    for (const [key, inner] of Object.entries(current)) {
      const at: ValuePlace = { key, parent: place };
      if (!isClean(key) || key === '__proto__')
        problems.push({ path: toPath(at), message: 'is not a valid field name' });
      open.push({ value: inner, place: at });
    }
  }
  if (problems.length > 0) throw invalidRequest(problems, 'body');
}

const UNCLEAN_MESSAGE = 'must not contain NUL characters or lone surrogates';

interface ValuePlace {
  readonly key: string;
  readonly parent?: ValuePlace;
}

function toPath(place: ValuePlace): string[] {
  const path: string[] = [];
  for (let at: ValuePlace = place; at.parent && path.length < 100; at = at.parent) path.unshift(at.key);
  return path;
}

function isClean(text: string): boolean {
  // Not one regular expression, which is slow on long texts.
  return !text.includes('\0') && text.isWellFormed();
}

export function invalidRequest(problems: readonly Problem[], root: string): Refused {
  const details = problems.map(({ path, message }) => ({
    path: shorten(path.length === 0 ? root : path.join('.')),
    message: shortenText(message),
  }));
  return invalidFields(details);
}

function shortenText(text: Text): Text {
  if (typeof text === 'string') return shorten(text);
  return String(text).length <= MAX_CHARACTERS ? text : shorten(String(text));
}

function shorten(text: string): string {
  const clean = text.replaceAll('\0', '\\0').toWellFormed();
  return clean.length <= MAX_CHARACTERS ? clean : `${clean.slice(0, MAX_CHARACTERS).toWellFormed()}…`;
}
