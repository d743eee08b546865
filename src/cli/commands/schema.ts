import { z } from 'zod';
import { getOperation } from '../../contract/index.js';
import { removeLimits, toJsonSchema } from '../../contract/schema/json-schema.js';
import { regen, say } from '../../contract/schema/message.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { toJson } from '../terminal/text.js';
import { BuiltTree } from '../views/tree.js';
import type { View } from '../views/view.js';

export const view = (): View => ({
  usage: 'schema [command...]',
  local: true,
  summary: 'Print the JSON Schema of what a command prints with --json, or of the request that it sends',
  explain: { command: "The command without its arguments, or 'error' (default: list the commands)" },
  flags: { '--input': 'The schema of the request body, with the rules of each model' },
  shape: { columns: ['command', 'schema'] },
  examples: [
    'regen schema version check',
    'regen schema video text2video --input',
    'regen schema error',
    'regen schema --json',
  ],
});

/** Changes with a change that breaks programs which read an answer or write a request. */
const SCHEMA_VERSION = 1;
const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

type Part = 'answer' | 'request';

export async function run({
  args,
  flags,
  output,
  command,
}: Needs<'command' | 'args' | 'flags' | 'output'>): Promise<void> {
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
  const printed = { $schema: DIALECT, $id: formatId(name, part), title: name, ...schema };
  if (output.mode.json) return output.answer(printed);
  await output.line(toJson(printed, 2));
}

type Schemas = Map<string, () => object>;

function listRequests(): Schemas {
  return new Map(
    new BuiltTree().readWhole().commands.flatMap(({ words, operation }) => {
      const body = operation === undefined ? undefined : getOperation(operation).body;
      return body ? [[words.join(' '), () => toJsonSchema(body, 'input')]] : [];
    }),
  );
}

function listAnswers(): Schemas {
  const tree = new BuiltTree();
  const { error, ...composed } = tree.readAnswers();
  const found = tree.readWhole().commands.flatMap(({ words, operation }) => {
    const name = words.join(' ');
    const response = () => toJsonSchema(getOperation(operation as string).response ?? z.object({}), 'output');
    if (!composed[name] && operation === undefined) return [];
    return [[name, () => removeLimits(composed[name] ?? response())] as const];
  });
  return new Map([...found, ['error', () => removeLimits(error as object)]]);
}

function formatId(name: string, part: Part): string {
  return `urn:regen:${part}:${name.replaceAll(' ', '-')}:${SCHEMA_VERSION}`;
}
