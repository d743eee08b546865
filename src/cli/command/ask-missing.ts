import type { z } from 'zod';
import type { Operation } from '../../contract/operation.js';
import { checkValue } from '../../contract/schema/check.js';
import { describeFields, type FieldDescription } from '../../contract/schema/fields.js';
import { findImageFields } from '../../contract/schema/image-rules.js';
import { parseText } from '../../contract/schema/parse-text.js';
import { splitWords } from '../terminal/cells.js';
import type { System } from '../terminal/system.js';
import { capitalize } from '../terminal/text.js';
import { buildRequest } from './build-request.js';
import type { Argument, Flag, ParsedCommand } from './command.js';

interface AskContext extends ParsedCommand {
  readonly system: Pick<System, 'prompts'>;
}

/** A required field without a value, and the argument or flag that sets it. */
interface MissingField {
  readonly input: Argument | Flag;
  readonly schema: z.ZodType;
  readonly description: FieldDescription;
  readonly choices: readonly string[] | undefined;
}

/**
 * Asks for the required values of a request that were not given. Answers are checked at the prompt.
 * @returns the command with the answers
 */
export async function askMissing(context: AskContext, operation: Operation): Promise<ParsedCommand> {
  const { command } = context;
  const args = { ...context.args };
  const flags = { ...context.flags };
  for (const field of listMissing(context, operation)) {
    const { input } = field;
    const answer = await askField(context, field, args.id as string | undefined);
    if ('value' in input || 'negatable' in input) flags[input.name] = answer;
    else args[input.name] = answer;
  }
  return { command, args, flags };
}

function listMissing({ command, args, flags }: ParsedCommand, operation: Operation): MissingField[] {
  const request = buildRequest(command, args, flags);
  return (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = operation[part];
    if (!schema || !('shape' in schema)) return [];
    const given = (request[part] ?? {}) as Readonly<Record<string, unknown>>;
    const images = part === 'body' ? findImageFields(schema) : [];
    return Object.entries(describeFields(schema)).flatMap(([name, description]) => {
      const isAsked = description.required && description.default === undefined && isSimple(description);
      if (!isAsked || given[name] !== undefined || images.includes(name)) return [];
      const isInput = ({ target }: Argument | Flag) => target?.join('.') === `${part}.${name}`;
      const input = command.arguments.find(isInput) ?? command.flags.find(isInput);
      const own = (schema as z.ZodObject).shape[name] as z.ZodType;
      // A view may offer fewer choices than the operation.
      const choices = command.flags.find(isInput)?.choices ?? description.enum?.map(String);
      return input ? [{ input, schema: own, description, choices }] : [];
    });
  });
}

function isSimple({ type, enum: values, readOnly, writeOnly, fields }: FieldDescription): boolean {
  if (readOnly || writeOnly || fields) return false;
  return values !== undefined || ['string', 'integer', 'number'].includes(String(type));
}

function askField(
  { command, system: { prompts } }: AskContext,
  { input, schema, description, choices }: MissingField,
  id: string | undefined,
): Promise<string> {
  const named = description.description ?? capitalize(splitWords(input.name.replaceAll('-', ' ')));
  const label = input.name === 'id' ? `${capitalize(command.words[0] as string)} id:` : `${named}:`;
  if (choices) return prompts.select(label, choices);
  // A name is often the id.
  const proposal = input.name === 'name' ? id : undefined;
  return prompts.input(label, proposal, (text) => {
    const checked = checkValue(schema, parseText(description, text));
    return checked.ok ? undefined : String(checked.problems[0]?.message);
  });
}
