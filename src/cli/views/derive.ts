import { contract, getOperation, type OperationName } from '../../contract/index.js';
import { listOperations, type Operation } from '../../contract/operation.js';
import { describeFields, type FieldDescription } from '../../contract/schema/fields.js';
import { findImageFields, IMAGE_FORM } from '../../contract/schema/image-rules.js';
import { type Names, render } from '../../contract/schema/message.js';
import type { Models as ContractModels } from '../../contract/schema/model-rules.js';
import { getRules } from '../../contract/schema/rule.js';
import { videoModels } from '../../contract/video-models.js';
import type { Argument, Command, CommandDestruction, CommandTree, Flag, Models } from '../command/command.js';
import { deriveFlags, flag, formatChoices, toFlags, toKebabCase } from '../command/flags.js';
import { adminViews } from './admin.js';
import { secretFileFlags } from './flags.js';
import { globals, groups, order } from './globals.js';
import { hostNodeViews } from './host-nodes.js';
import { imageViews } from './image.js';
import { keyViews } from './key.js';
import { nodeViews } from './node.js';
import { chooseFlagName, listOtherNames } from './other-names.js';
import { publisherViews } from './publisher.js';
import { topics } from './topics.js';
import { versionViews } from './version.js';
import { videoViews } from './video.js';
import type { View } from './view.js';
import { webhookViews } from './webhook.js';

const operationViews: readonly View[] = [
  ...publisherViews,
  ...nodeViews,
  ...versionViews,
  ...hostNodeViews,
  ...imageViews,
  ...videoViews,
  ...keyViews,
  ...webhookViews,
  ...adminViews,
];

/** Operations that are a part of other commands, or are only for programs. */
const WITHOUT_COMMAND: readonly OperationName[] = [
  'publisher.validate',
  'publisher.trust.check',
  'publisher.trust.exchange',
  'node.install',
  'version.publish',
  'hostNodes.list',
  'hostNodes.bulk',
  'hostNodes.define',
  'user.me',
  'user.openPage',
  'image.relightStatus',
  'image.styleTransferStatus',
  'image.skinEnhancerStatus',
  'image.upscalerStatus',
  'video.creations',
  'task.get',
  'task.list',
  'task.cancel',
  'task.statement',
  'webhook.secret',
  'webhook.rotateSecret',
  'service.protectedResource',
  'service.statementKeys',
];

/**
 * Combines the views and the contract into the whole command tree, as plain data.
 * @param handWritten the views of the files in `commands/`
 */
export function deriveTree(handWritten: readonly View[]): CommandTree {
  const views = [...operationViews, ...handWritten];
  const commands = [...views, ...deriveViews(views)].map(toCommand).sort(compareOrder);
  return {
    words: [...new Set(commands.map(({ words }) => words[0] as string))],
    topics: Object.fromEntries(Object.entries(topics).map(([name, { summary }]) => [name, summary])),
    ...{ groups, globals: toFlags(globals), commands },
  };
}

/** Sorts by `order`; commands that it does not name come last in their group, as they are. */
function compareOrder({ words: one }: Command, { words: other }: Command): number {
  const rank = ([first = '', ...rest]: readonly string[]) => {
    const groupAt = Object.keys(order).indexOf(first);
    const at = order[first]?.indexOf(rest.join(' ')) ?? -1;
    return [groupAt, at < 0 ? Number.POSITIVE_INFINITY : at] as const;
  };
  const [[group, at], [otherGroup, otherAt]] = [rank(one), rank(other)];
  return group - otherGroup || (at === otherAt ? 0 : at - otherAt);
}

/** Lists the views of the operations that no view names: `node.get` is `node get <nodeId>`. */
function deriveViews(views: readonly View[]): View[] {
  const known = new Set([...WITHOUT_COMMAND, ...views.map(({ operation }) => operation)]);
  return [...listOperations(contract)].flatMap(([name, { params }]) => {
    if (known.has(name as OperationName)) return [];
    const words = [
      ...name.split('.').map(toKebabCase),
      ...Object.keys(params?.shape ?? {}).map((key) => `<${key}>`),
    ];
    return [{ usage: words.join(' '), operation: name as OperationName }];
  });
}

interface RequestField {
  readonly description: FieldDescription;
  readonly target: readonly string[];
}

function toCommand(view: View): Command {
  const operation = view.operation && getOperation(view.operation);
  const fields = operation ? listRequestFields(operation, view) : new Map<string, RequestField>();
  const changes = view.changes ?? (operation !== undefined && operation.method !== 'GET' && !isRead(view));
  const [words, names] = splitUsage(view.usage);
  const positionals = names.map((name) => toArgument(name, view, fields));
  const derived = operation && !isRead(view) ? deriveRequestFlags(operation, view) : [];
  const other = listOtherNames(derived);
  const destroys: CommandDestruction | undefined = view.destroys ?? operation?.destroys;
  const notes = [
    ...(operation?.body ? formatNotes(operation.body, derived) : []),
    ...other.notes,
    ...(view.notes ?? []),
    ...(destroys ? [formatDestruction(destroys)] : []),
    ...(view.aliases ?? []).map((alias) => `Also: regen ${[...words.slice(0, -1), alias].join(' ')}`),
  ];
  const models = operation?.body && listModels(listFields(operation.body, view));
  const paged = [...fields.keys()].includes('page');
  const isSecret = operation?.secret === true && view.shape?.only !== undefined;
  return {
    words,
    summary: view.summary ?? operation?.summary ?? '',
    arguments: positionals,
    flags: [
      ...derived,
      ...other.flags,
      ...toFlags(view.flags ?? {}),
      ...(paged ? [flag('--all', 'Read all pages')] : []),
      ...(operation?.body && !isRead(view) && !view.fixed ? [BODY_FLAG] : []),
      ...(changes ? [DRY_RUN_FLAG] : []),
      ...(destroys ? [YES_FLAG] : []),
      ...(isSecret ? [SHOW_FLAG, ...toFlags(secretFileFlags)] : []),
    ],
    examples: view.examples ?? [],
    ...(notes.length > 0 && { notes }),
    ...(models && { models }),
    ...(view.operation && { operation: view.operation }),
    ...(view.fixed && { fixed: view.fixed }),
    module: view.module ?? 'operation',
    ...(view.shape && { shape: view.shape }),
    takes: [...(view.local ? [] : ['service' as const]), ...(view.shape?.columns ? ['list' as const] : [])],
    ...(changes && { changes }),
    ...(destroys && { destroys }),
    ...(view.lookup && { lookup: view.lookup }),
    ...(view.aliases && { aliases: view.aliases }),
    ...(view.otherwise && { otherwise: view.otherwise }),
    ...(view.implied && { implied: view.implied }),
    ...(isSecret && { secret: true }),
    ...(view.tool && { tool: view.tool }),
  };
}

// `version bulk` builds its request body itself.
function isRead(view: View): boolean {
  return view.module === 'bulk';
}

const BODY_FLAG = flag('--body <json|@file|->', 'Whole request body, instead of its flags');

const DRY_RUN_FLAG = flag('--dry-run', 'Print the request with secrets masked, and send nothing');

/** What help says of a command that destroys something. */
function formatDestruction({ flag, loss }: CommandDestruction): string {
  return `${flag ? `With --${flag}, this` : 'This'} cannot be undone. ${loss}`;
}

const YES_FLAG = flag('-y, --yes', 'Do not ask for confirmation; required where regen cannot ask');

const SHOW_FLAG = flag('--show', 'Print the secret even if stdout is a terminal');

function listRequestFields(operation: Operation, view: View): Map<string, RequestField> {
  const fields = new Map<string, RequestField>();
  for (const part of ['body', 'query', 'params'] as const) {
    const schema = operation[part];
    if (!schema || !('shape' in schema)) continue;
    for (const [name, field] of Object.entries(listFields(schema, view))) {
      fields.set(name, { description: field, target: [part, name] });
    }
  }
  return fields;
}

function listFields(
  schema: unknown,
  { choices = {}, optional = [] }: View,
  names?: Names,
): Record<string, FieldDescription> {
  const fields = Object.entries(describeFields(schema as Operation['params'], names)).map(([name, field]) => {
    const required = field.required && !optional.includes(name);
    return [name, { ...field, required, ...(choices[name] && { enum: [...choices[name]] }) }] as const;
  });
  return Object.fromEntries(fields);
}

function deriveRequestFlags(operation: Operation, view: View): Flag[] {
  const { hide = [], fixed = {} } = view;
  return (['body', 'query'] as const).flatMap((part) => {
    const schema = operation[part];
    if (!schema || !('shape' in schema)) return [];
    const plain = deriveFlags(listFields(schema, view), [part]);
    const flags = deriveFlags(listFields(schema, view, createFlagNames(plain)), [part]);
    const images = findImageFields(schema).map((field) => `${part}.${field}`);
    return flags
      .filter(({ name, target = [] }) => !hide.includes(name) && !(target.join('.') in fixed))
      .map((flag) => ({ ...flag, name: chooseFlagName(flag.name) }))
      .map((flag) => (images.includes(flag.target?.join('.') ?? '') ? { ...flag, value: 'image' } : flag));
  });
}

const IMAGE_NOTE =
  'An image is a file, - for standard input, an http or https URL, @last or @last:<command> for the result of a task, or inline data after data: or base64:.';

/** The rules of a body, with flag names instead of field names. */
function formatNotes(body: Exclude<Operation['body'], undefined>, flags: readonly Flag[]): string[] {
  return getRules(body).map((rule) =>
    rule.images ? IMAGE_NOTE : render(rule.sentence, createFlagNames(flags)),
  );
}

/** Calls fields by their flags, and images by what the command line takes. */
function createFlagNames(flags: readonly Flag[]): Names {
  return {
    value: (value) => (value === IMAGE_FORM.value ? 'File or URL' : value),
    field: (field) => {
      const flag = flags.find(({ target }) => target?.at(-1) === field);
      return flag ? `--${flag.name}` : `<${field}>`;
    },
  };
}

function splitUsage(usage: string): [words: string[], names: string[]] {
  const parts = usage.split(' ');
  const first = parts.findIndex((part) => /^[<[]/.test(part));
  return first < 0 ? [parts, []] : [parts.slice(0, first), parts.slice(first)];
}

/** What is not explained by a view or by the field of a request. */
export const COMMON_ARGUMENTS: Readonly<Record<string, string>> = {
  nodeId: 'Node id',
  publisherId: 'Publisher id',
  version: 'Version number',
  hostNodeName: 'Name of the node definition',
  userId: 'User id',
};

function toArgument(written: string, view: View, fields: ReadonlyMap<string, RequestField>): Argument {
  const name = written.replace(/[<>[\].]/g, '');
  const field = fields.get(name);
  const choices = field?.description.enum && `(one of ${formatChoices(field.description.enum)})`;
  const description = [
    view.explain?.[name] ?? field?.description.description ?? COMMON_ARGUMENTS[name],
    choices,
  ]
    .filter(Boolean)
    .join(' ');
  return {
    name,
    required: written.startsWith('<'),
    variadic: written.includes('...'),
    ...(description && { description }),
    ...(field && { target: field.target, type: { type: field.description.type ?? 'string' } }),
    ...(field?.description.enum && { choices: field.description.enum.map(String) }),
  };
}

/** Lists what each model of a request can generate, within the limits of the request's own fields. */
function listModels({
  model,
  duration,
  resolution,
}: Readonly<Record<string, FieldDescription>>): Models | undefined {
  if (!model?.enum || !duration || !resolution?.enum) return undefined;
  const { minimum = 1, maximum = Number.POSITIVE_INFINITY } = duration;
  const known = resolution.enum.map(String);
  const modes = model.enum.map(String).map((name) => {
    const all = (videoModels as ContractModels)[name]?.modes ?? [];
    const limited = all.map(({ from, to, resolutions }) => ({
      from: Math.max(from, minimum),
      to: Math.min(to, maximum),
      resolutions: resolutions.filter((one) => known.includes(one)),
    }));
    return [name, limited.filter(({ from, to }) => from <= to)] as const;
  });
  return { standard: String(model.default), modes: Object.fromEntries(modes) };
}
