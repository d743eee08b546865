import { writeFileSync } from 'node:fs';
import { COMMON_ARGUMENTS } from '../src/cli/views/derive.js';
import { contract } from '../src/contract/index.js';
import { createOpenApiDocument } from '../src/contract/openapi.js';
import { listOperations, type Operation, type Who } from '../src/contract/operation.js';
import { findImageFields } from '../src/contract/schema/image-rules.js';
import { readIfPresent } from './write-if-changed.js';

const PATH = 'src/library/api.generated.ts';

// biome-ignore lint/suspicious/noExplicitAny: a document is walked as the plain JSON it is
type Json = any;

/** A method of the client. */
interface Method {
  readonly name: string;
  readonly operation: Operation;
  /** The parameters and the body, as the method takes them. */
  readonly fields: readonly Field[];
  readonly input: string;
  readonly isOptional: boolean;
  readonly output: string;
}

interface Field {
  readonly name: string;
  readonly type: string;
  readonly isOptional: boolean;
  readonly description: string;
  readonly isDeprecated?: boolean;
}

/** The methods of the client and the named types of their inputs and answers, as plain TypeScript. */
export class LibraryApi {
  readonly #document: Json = createOpenApiDocument(contract, { version: '' });
  readonly #types = new Map<string, readonly Field[]>();
  readonly methods: readonly Method[];

  constructor() {
    for (const [name, schema] of Object.entries<Json>(this.#document.components.schemas))
      this.#addType(name, schema);
    this.methods = Array.from(listOperations(contract), (one) => this.#describeMethod(...one));
  }

  get types(): [name: string, fields: readonly Field[]][] {
    return [...this.#types].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  #addType(name: string, schema: Json): void {
    const fields = this.#listFields(schema);
    const known = this.#types.get(dropSuffix(name));
    // Requests and answers differ in limits and defaults, which TypeScript has no words for.
    if (known && toText(known) !== toText(fields)) throw new Error(`There are two types named ${name}.`);
    this.#types.set(dropSuffix(name), fields);
  }

  #describeMethod(name: string, operation: Operation): Method {
    const {
      parameters = [],
      requestBody,
      responses,
    } = this.#document.paths[operation.path][operation.method.toLowerCase()];
    const inPlace = parameters.filter((one: Json) => one.in !== 'header');
    const fields: Field[] = inPlace.map((one: Json) => ({
      name: one.name,
      type: this.#writeType(one.schema),
      isOptional: one.required !== true,
      description: [
        one.description ?? COMMON_ARGUMENTS[one.name] ?? explainId(one.name),
        one.schema.default !== undefined && `default ${JSON.stringify(one.schema.default)}`,
      ]
        .filter(Boolean)
        .join('; '),
    }));
    const body = requestBody?.content['application/json'].schema;
    if (body)
      fields.push({
        name: 'body',
        type: this.#writeType(body),
        isOptional: false,
        description: 'What is sent, as JSON',
      });
    const answer = responses[operation.status ?? 200].content?.['application/json'].schema;
    const isOptional = fields.every((field) => field.isOptional);
    const output = answer ? this.#writeType(answer) : 'undefined';
    return { name, operation, fields, input: writeObject(fields), isOptional, output };
  }

  #listFields({ properties = {}, required = [] }: Json): Field[] {
    return Object.entries<Json>(properties).map(([name, schema]) => ({
      name,
      type: this.#writeType(schema),
      isOptional: !required.includes(name),
      description: [
        schema.description,
        schema.default !== undefined && `default ${JSON.stringify(schema.default)}`,
        schema.readOnly && 'set by the service',
        schema.deprecated && 'deprecated',
      ]
        .filter(Boolean)
        .join('; '),
      isDeprecated: schema.deprecated === true,
    }));
  }

  #writeType(schema: Json): string {
    if (schema.$ref) return dropSuffix(schema.$ref.split('/').at(-1));
    if (schema.title) {
      this.#addType(schema.title, schema);
      return schema.title;
    }
    if ('const' in schema) return JSON.stringify(schema.const);
    if (schema.enum) return schema.enum.map((value: unknown) => JSON.stringify(value)).join(' | ');
    if (schema.anyOf?.some((one: Json) => one.type ?? one.$ref)) return this.#writeUnion(schema.anyOf);
    if (Array.isArray(schema.type))
      return this.#writeUnion(schema.type.map((type: string) => ({ ...schema, type })));
    switch (schema.type) {
      case 'integer':
        return 'number';
      case 'string':
      case 'number':
      case 'boolean':
      case 'null':
        return schema.type;
      case 'array': {
        const item = this.#writeType(schema.items ?? {});
        return item.includes(' | ') ? `(${item})[]` : `${item}[]`;
      }
      case 'object': {
        if (schema.properties) return writeObject(this.#listFields(schema));
        const { additionalProperties: value } = schema;
        return `{ [name: string]: ${typeof value === 'object' ? this.#writeType(value) : 'unknown'} }`;
      }
      default:
        return 'unknown';
    }
  }

  #writeUnion(schemas: Json[]): string {
    return [...new Set(schemas.map((one) => this.#writeType(one)))].join(' | ');
  }
}

/** `tokenId` is "Token id". */
const explainId = (name: string) =>
  /id$/i.test(name) ? `${name[0]?.toUpperCase()}${name.slice(1, -2).replace('_', '')} id` : undefined;

const dropSuffix = (name: string) => name.replace(/Answer$/, '');

const toText = (fields: readonly Field[]) =>
  JSON.stringify(fields.map(({ description: _, ...rest }) => rest));

function writeObject(fields: readonly Field[]): string {
  if (fields.length === 0) return 'Record<never, never>';
  return `{ ${fields.map((field) => `${writeComment(field)}${writeField(field)}`).join('\n')} }`;
}

// Also where `exactOptionalPropertyTypes` is set, a field may be undefined.
const writeField = ({ name, type, isOptional }: Field) =>
  `${/^\w+$/.test(name) ? name : JSON.stringify(name)}${isOptional ? '?' : ''}: ${type}${isOptional ? ' | undefined' : ''};`;

/** Writes what editors show over a field. */
function writeComment({ description, isDeprecated }: Field): string {
  if (!description) return '';
  // Only at the start of a line is it a tag.
  const tag = isDeprecated ? '\n * @deprecated\n' : '';
  return `/** ${description.replaceAll('*/', '*\\/')}${tag} */\n`;
}

/** Writes the methods and types, which editors then show with their descriptions. */
export function writeLibraryTypes(): void {
  const { methods, types } = new LibraryApi();
  const starts = methods.filter(({ operation }) => operation.task);
  const images = new Set(
    starts.flatMap(({ operation }) => (operation.body ? findImageFields(operation.body) : [])),
  );
  const text = [
    "import type { CallOptions } from '../client/client-options.js';",
    ...types.map(
      ([name, fields]) =>
        `export interface ${name} {\n${fields.map((field) => `${writeComment(field)}${writeField(field)}\n`).join('')}}`,
    ),
    `/** The operations of the service. */\nexport interface Operations ${writeTree(methods)}`,
    `export type OperationName = ${methods.map(({ name }) => `'${name}'`).join(' | ')};`,
    `/** The bodies of the operations that start a task. */\nexport interface TaskBodies {\n${starts
      .map(({ name, input }) => `  '${name}': ${/body: (\w+);/.exec(input)?.[1]};\n`)
      .join('')}}`,
    `/** The fields of these bodies that are images. */\nexport type ImageField = ${[...images].map((name) => `'${name}'`).join(' | ')};`,
  ].join('\n\n');
  if (text !== readIfPresent(PATH)) writeFileSync(PATH, text);
}

/** Writes the methods as a tree of nouns. */
function writeTree(methods: readonly Method[], depth = 0): string {
  const branches = new Map<string, Method[]>();
  for (const method of methods) {
    const word = method.name.split('.')[depth] as string;
    branches.set(word, [...(branches.get(word) ?? []), method]);
  }
  const indent = '  '.repeat(depth + 1);
  const lines = Array.from(branches, ([word, [first, ...others]]) => {
    const isLeaf = first?.name.split('.').length === depth + 1;
    if (!isLeaf) return `${indent}readonly ${word}: ${writeTree([first as Method, ...others], depth + 1)};\n`;
    const { operation, input, isOptional, output } = first as Method;
    return `${indent}/**\n${indent} * ${operation.summary}.\n${indent} *\n${indent} * \`${operation.method} ${operation.path}\`\n${indent} */\n${indent}readonly ${word}: (input${isOptional ? '?' : ''}: ${input}, options?: CallOptions) => Promise<${output}>;\n`;
  });
  return `{\n${lines.join('')}${'  '.repeat(depth)}}`;
}

/** Formats every method and type for docs/api.md. */
export function formatApiPage(): string {
  const { methods, types } = new LibraryApi();
  const link = (written: string) => {
    const type = written.replaceAll(' | undefined', '');
    const [, only, many = ''] = /^(\w+)(\[\])?$/.exec(type) ?? [];
    if (types.some(([name]) => name === only)) return `[${only}](#${only?.toLowerCase()})${many}`;
    const text = `\`${type
      .replaceAll('|', '\\|')
      .replaceAll(/\/\*\*[\s\S]*?\*\/\n/g, '')
      .replaceAll('\n', ' ')}\``;
    const named = types.filter(([name]) =>
      new RegExp(`\\b${name}\\b`).test(type.replaceAll(/\/\*\*[\s\S]*?\*\/\n/g, '')),
    );
    return [text, ...named.map(([name]) => `[${name}](#${name.toLowerCase()})`)].join(' ');
  };
  const formatRow = ({ name, type, isOptional, description }: Field) =>
    `| \`${name}${isOptional ? '?' : ''}\` | ${link(type)} | ${description.replaceAll('|', '\\|')} |`;
  const sections = methods.map(({ name, operation, fields, output }, index) => {
    const { summary, method, path, who, status = 200 } = operation;
    const group = name.split('.')[0] as string;
    const isFirst = group !== methods[index - 1]?.name.split('.')[0];
    const table = ['| parameter | type | meaning |', '|---|---|---|', ...fields.map(formatRow), ''];
    return [
      ...(isFirst ? [`## ${HEADINGS[group]}`, ''] : []),
      `### ${summary}`,
      '',
      `\`${method} ${path}\` · \`client.${name}\` · for ${CALLERS[who]}`,
      '',
      ...(fields.length > 0 ? table : []),
      `Returns ${status}${output === 'undefined' ? '' : ` with ${link(output)}`}.`,
      '',
    ].join('\n');
  });
  const chapters = types.map(([name, fields]) => {
    const table = ['| field | type | meaning |', '|---|---|---|', ...fields.map(formatRow)];
    return [`### ${name}`, '', ...table, ''].join('\n');
  });
  return `# API reference

<!-- Generated from the contract by \`npm run generate\`. -->

Every request of the service, and every type. Each heading is followed by the request and by the method of
[the library](library.md) that sends it; its parameters are those in the path, the query and, as \`body\`, the JSON of the
request. A \`?\` marks what can be left out.

\`\`\`sh
curl "$REGEN_BASE_URL/nodes/hello-nodes" # needs a service
curl --json '{"id": "my-team", "name": "My team"}' -H "Authorization: Bearer $REGEN_TOKEN" "$REGEN_BASE_URL/publishers" # needs a service
\`\`\`

\`\`\`ts
const client = createClient({ baseUrl, token });
const node = await client.node.get({ nodeId: 'hello-nodes' });
await client.publisher.create({ body: { id: 'my-team', name: 'My team' } });
\`\`\`

Errors are JSON with \`error\`, a [code](errors.md), and \`message\`. A \`POST\` with an \`Idempotency-Key\` header can be
repeated safely: it gets the answer of the first attempt. [openapi.json](openapi.json) describes the same for generators of code.

${sections.join('\n')}
## Types

${chapters.join('\n')}`;
}

/** Who may send a request. */
const CALLERS: Readonly<Record<Who, string>> = {
  anyone: 'anyone',
  bearer: 'any credential',
  person: 'a signed-in person',
  admin: 'an admin or an admin token',
  'admin in person': 'an admin who is signed in',
  'member reads': 'a member of the publisher, or an admin',
  'member writes': 'a member of the publisher, or its publishing token',
  'owner reads': 'an owner of the publisher, or an admin',
  'owner writes': 'an owner of the publisher',
};

/** Of the methods by their first word. */
const HEADINGS: Readonly<Record<string, string>> = {
  publisher: 'Publishers',
  node: 'Nodes',
  version: 'Versions',
  hostNodes: 'Node definitions',
  registry: 'The feed',
  user: 'You',
  key: 'API keys',
  admin: 'Administration',
  image: 'Images',
  video: 'Videos',
  task: 'Tasks',
  webhook: 'Webhooks',
  service: 'The service itself',
};
