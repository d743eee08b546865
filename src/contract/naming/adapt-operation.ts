import { z } from 'zod';
import type { Operation } from '../operation.js';
import { requireAtLeastOne } from '../schema/field-rules.js';
import { getRules, withRules } from '../schema/rule.js';
import type { Naming } from './naming.js';

/** Declares an operation with the body that the clients of the other service send, in the names of the contract. */
export function adaptOperation<Op extends Operation>(
  naming: Naming | undefined,
  name: string,
  operation: Op,
): Op {
  const { assumedFields, ignoredFields, extendWithEither } = naming?.behaviors ?? {};
  const { body } = operation;
  if (!(body instanceof z.ZodObject)) return operation;
  const rules = getRules(body);
  const either = extendWithEither ? rules.flatMap(({ together = [] }) => together) : [];
  const assumed = Object.entries(assumedFields?.[name] ?? {});
  const ignored = ignoredFields?.[name] ?? [];
  if (either.length + assumed.length + ignored.length === 0) return operation;
  const { id, ...meta } = body.meta() ?? {};
  const adapted = body.extend({
    ...Object.fromEntries(either.map((field) => [field, getField(body, field).optional()])),
    ...Object.fromEntries(assumed.map(([field, value]) => [field, getField(body, field).default(value)])),
    ...Object.fromEntries(ignored.map((field) => [field, IGNORED])),
  });
  const relaxed = rules.map((rule) =>
    extendWithEither && rule.together ? requireAtLeastOne(...rule.together) : rule,
  );
  return { ...operation, body: withRules(adapted, ...relaxed).meta({ ...meta, title: id }) };
}

/**
 * Declares an operation for a client of the other service, which may have values that the contract does not list, such
 * as a model that is newer.
 */
export function openOperation<Op extends Operation>(
  naming: Naming | undefined,
  name: string,
  operation: Op,
): Op {
  const adapted = adaptOperation(naming, name, operation);
  const { body } = adapted;
  const open = naming?.behaviors.openValues ?? [];
  const fields = body instanceof z.ZodObject ? open.filter((field) => Object.hasOwn(body.shape, field)) : [];
  if (!(body instanceof z.ZodObject) || fields.length === 0) return adapted;
  const opened = body.extend(
    Object.fromEntries(
      fields.map((field) => [field, isOptional(body, field) ? z.string().optional() : z.string()]),
    ),
  );
  return { ...adapted, body: withRules(opened, ...getRules(body)) };
}

function isOptional(body: z.ZodObject, field: string): boolean {
  return getField(body, field).safeParse(undefined).success;
}

const IGNORED = z.unknown().optional().describe('Accepted, and changes nothing');

function getField(body: z.ZodObject, name: string): z.ZodType {
  return body.shape[name] as z.ZodType;
}
