import type { z } from 'zod';
import { getOperation } from '../../contract/index.js';
import { toJsonSchema } from '../../contract/schema/json-schema.js';
import { regen, say } from '../../contract/schema/message.js';
import type { CommandContext } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { toJson } from '../terminal/text.js';
import { ErrorAnswer, findAnswerSchema } from '../views/answers.js';
import { BuiltTree } from '../views/tree.js';

/** Changes with a change that breaks programs which read an answer or write a request. */
const SCHEMA_VERSION = 1;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type Part = 'answer' | 'request';

export async function run({ args, flags, output, command }: CommandContext): Promise<void> {
  const words = (args.command as readonly string[] | undefined)?.flatMap((word) => word.split(' ')) ?? [];
  const part = flags.input ? 'request' : 'answer';
  const schemas = part === 'request' ? listRequests() : listAnswers();
  if (words.length === 0) {
    const rows = [...schemas.keys()].map((name) => ({ command: name, schema: formatId(name, part) }));
    return output.answer(rows, command.shape);
  }
  const name = words.filter((word) => word !== 'regen').join(' ');
  const schema = schemas.get(name)?.();
  if (!schema) {
    const lack = part === 'request' ? 'sends no request body' : 'has no JSON output';
    throw usage(
      `regen ${name} ${lack}.`,
      say`List the schemas with: ${regen('schema', flags.input ? '--input' : '')}`,
    );
  }
  const written =
    part === 'request' ? toJsonSchema(schema, 'input') : removeLimits(toJsonSchema(schema, 'output'));
  const printed = { $schema: DIALECT, $id: formatId(name, part), title: name, ...written };
  if (output.mode.json) return output.answer(printed);
  await output.line(toJson(printed, 2));
}

type Schemas = Map<string, () => z.ZodType | undefined>;

function listRequests(): Schemas {
  return new Map(
    new BuiltTree().readWhole().commands.flatMap(({ words, operation }) => {
      const body = operation === undefined ? undefined : getOperation(operation).body;
      return body ? [[words.join(' '), () => body]] : [];
    }),
  );
}

function listAnswers(): Schemas {
  const commands = new BuiltTree().readWhole().commands;
  const found = commands.flatMap((command) =>
    findAnswerSchema(command) ? [[command.words.join(' '), () => findAnswerSchema(command)] as const] : [],
  );
  return new Map([...found, ['error', () => ErrorAnswer]]);
}

function formatId(name: string, part: Part): string {
  return `urn:regen:${part}:${name.replaceAll(' ', '-')}:${SCHEMA_VERSION}`;
}

/** A field that is added later does not break programs which read an answer. */
function removeLimits(schema: object): object {
  return JSON.parse(
    JSON.stringify(schema, (name, value) =>
      name === 'additionalProperties' && value === false ? undefined : value,
    ),
  );
}
