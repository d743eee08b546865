import { z } from 'zod';
import type { Message } from './message.js';

const registry = z.registry<{ explanation: Message }>();

/** Describes a field with a message that names other fields or values. */
export function explain<Schema extends z.ZodType>(schema: Schema, explanation: Message): Schema {
  const described = schema.describe(String(explanation));
  registry.add(described, { explanation });
  return described;
}

export function getExplanation(schema: z.core.$ZodType): Message | undefined {
  return registry.get(schema as z.ZodType)?.explanation;
}
