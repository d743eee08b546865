import type { z } from 'zod';
import { toJsonSchema } from '../../contract/schema/json-schema.js';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { toJson } from '../terminal/text.js';
import { ErrorAnswer, findAnswerSchema } from '../views/answers.js';
import { BuiltTree } from '../views/tree.js';

/** Changes with a change that breaks programs which read an answer. */
const ANSWER_VERSION = 1;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** Prints the schema of the answer of a command, or lists all of them. */
export async function run({ args, output, command }: CommandContext): Promise<void> {
  const words = (args.command as readonly string[] | undefined)?.flatMap((word) => word.split(' ')) ?? [];
  const schemas = listSchemas();
  if (words.length === 0) {
    const rows = [...schemas.keys()].map((name) => ({ command: name, schema: formatId(name) }));
    return output.answer(rows, command.shape);
  }
  const name = words.filter((word) => word !== 'regen').join(' ');
  const schema = schemas.get(name)?.();
  if (!schema) throw usage(`regen ${name} has no JSON output.`, 'List the schemas with: regen schema');
  const printed = {
    $schema: DIALECT,
    $id: formatId(name),
    title: name,
    ...removeLimits(toJsonSchema(schema, 'output')),
  };
  if (output.mode.json) return output.answer(printed);
  await output.line(toJson(printed, 2));
}

function listSchemas(): Map<string, () => z.ZodType | undefined> {
  const commands = new BuiltTree().readWhole().commands;
  const found = commands.flatMap((command) =>
    findAnswerSchema(command) ? [[command.words.join(' '), () => findAnswerSchema(command)] as const] : [],
  );
  return new Map<string, () => z.ZodType | undefined>([...found, ['error', () => ErrorAnswer]]);
}

function formatId(name: string): string {
  return `urn:regen:answer:${name.replaceAll(' ', '-')}:${ANSWER_VERSION}`;
}

/** A field that is added later does not break programs which read an answer. */
function removeLimits(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (name, value) =>
      name === 'additionalProperties' && value === false ? undefined : value,
    ),
  );
}
