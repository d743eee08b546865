import { expect, it } from 'vitest';
import type { z } from 'zod';
import { contract } from '../../src/contract/index.js';
import { listOperations } from '../../src/contract/operation.js';
import { checkValue } from '../../src/contract/schema/check.js';
import { findImageFields } from '../../src/contract/schema/image-rules.js';
import { toJsonSchema } from '../../src/contract/schema/json-schema.js';
import type { JsonSchema } from '../../src/contract/schema/schema-types.js';

/** The paths of the texts in a request schema that may be of any length. Read-only fields are ignored in requests. */
function listUnlimitedTexts(schema: z.ZodType): string[] {
  const root = toJsonSchema(schema, 'input');
  const definitions = (root.$defs ?? {}) as Record<string, JsonSchema>;
  const visit = (given: JsonSchema, path: string): string[] => {
    const { $ref, ...own } = given;
    const found = { ...(definitions[String($ref).replace('#/$defs/', '')] ?? {}), ...own } as JsonSchema;
    if (found.readOnly) return [];
    if (found.type === 'string') return found.maxLength || found.enum || found.const ? [] : [path];
    const fields = Object.entries((found.properties ?? {}) as Record<string, JsonSchema>);
    const inner = ['items', 'additionalProperties', 'propertyNames'].filter(
      (name) => typeof found[name] === 'object',
    );
    return [
      ...fields.flatMap(([name, field]) => visit(field, path ? `${path}.${name}` : name)),
      ...inner.flatMap((name) => visit(found[name] as JsonSchema, `${path}[]`)),
    ];
  };
  return visit(root, '');
}

// Images are limited in bytes, because a service may be configured to take larger ones.
it.each(Array.from(listOperations(contract)))(
  '%s limits every text of a request',
  (_, { params, query, body }) => {
    const texts = [params, query, body].flatMap((schema) => (schema ? listUnlimitedTexts(schema) : []));
    const images = body ? findImageFields(body) : [];
    expect(texts.filter((path) => !images.includes(path.replace('[]', '')))).toEqual([]);
  },
);

it('reports at most a hundred problems', () => {
  const tags = Array.from({ length: 1000 }, () => 1);
  const lists = checkValue(contract.node.create.body as z.ZodType, {
    id: 'pack',
    name: 'Pack',
    tags,
    supported_os: tags,
  });
  const unknown = Object.fromEntries(tags.map((value, index) => [`field ${index}`, value]));
  const fields = checkValue(contract.publisher.token.create.body as z.ZodType, { name: 'ci', ...unknown });
  for (const checked of [lists, fields]) expect(!checked.ok && checked.problems).toHaveLength(100);
});
