import type { z } from 'zod';
import type { HostNode } from '../../contract/host-nodes.js';
import { isRecord, parseJson } from '../../contract/json.js';
import type { HostDefinition } from './host-definitions.js';

/** Where the definitions of a registry and those of a host differ. */
export interface HostDifference {
  readonly host_node_name: string;
  /** A field of the definition; `node` if only one side has it. */
  readonly field: string;
  readonly registry: string;
  readonly host: string;
}

type Definition = z.output<typeof HostNode>;

/** What a host answers of the fields of a definition. */
const FIELDS = [
  'input_types',
  'return_types',
  'return_names',
  'output_is_list',
  'category',
  'description',
] as const;
const FLAGS = ['deprecated', 'experimental'] as const;

/**
 * Compares the definitions of a version with those of a host that has it installed. What is computed at run time matches
 * anything. Nodes of the same Python module that only the host has are differences, too.
 */
export function compareWithHost(
  listed: readonly Definition[],
  live: readonly HostDefinition[],
): {
  readonly differences: readonly HostDifference[];
  readonly notLoaded: readonly string[];
  readonly equal: number;
} {
  const ours = new Map(listed.map((one) => [one.host_node_name ?? '', one]));
  const theirs = new Map(live.map((one) => [one.host_node_name, one]));
  const common = [...ours.keys()].filter((name) => theirs.has(name)).sort();
  const different = common.map((name) =>
    compareDefinition(name, ours.get(name) as Definition, theirs.get(name) as HostDefinition),
  );
  const modules = countModules(common.map((name) => theirs.get(name)?.module ?? ''));
  const unlisted = live.filter(
    ({ host_node_name, module }) => module === modules && !ours.has(host_node_name),
  );
  return {
    differences: [
      ...different.flat(),
      ...unlisted.map(({ host_node_name }) => ({
        host_node_name,
        field: 'node',
        registry: '',
        host: 'loaded',
      })),
    ],
    notLoaded: [...ours.keys()].filter((name) => !theirs.has(name)).sort(),
    equal: different.filter((one) => one.length === 0).length,
  };
}

/** The module that most nodes are from, if it is that of a pack. */
function countModules(modules: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const module of modules)
    if (module.startsWith('custom_nodes.')) counts.set(module, (counts.get(module) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0];
}

function compareDefinition(name: string, ours: Definition, theirs: HostDefinition): HostDifference[] {
  const toDifference = (field: string, registry: unknown, host: unknown) => ({
    host_node_name: name,
    field,
    registry: describeValue(registry),
    host: describeValue(host),
  });
  const fields = FIELDS.flatMap((field) => {
    const [own, other] = [ours[field], theirs[field]].map((value) => parseField(field, value));
    // A field that is not listed is not known.
    if (own === undefined || matches(own, other ?? '')) return [];
    return [findDifference([field], own, other)].map(({ path, own, other }) =>
      toDifference(path.join('.'), own, other),
    );
  });
  const flags = FLAGS.filter((flag) => ours[flag] !== undefined && ours[flag] !== theirs[flag]);
  return [...fields, ...flags.map((flag) => toDifference(flag, ours[flag], theirs[flag]))];
}

/** Three of the fields are JSON text. */
function parseField(field: string, value: unknown): unknown {
  return typeof value === 'string' && /_(?:types|names)$/.test(field) ? parseJson(value) : value;
}

/** Follows objects to the first part that differs, so that a long definition is not shown whole. */
function findDifference(
  path: readonly string[],
  own: unknown,
  other: unknown,
): { path: readonly string[]; own: unknown; other: unknown } {
  if (!isRecord(own) || !isRecord(other)) return { path, own, other };
  const names = [...new Set([...Object.keys(own), ...Object.keys(other)])].filter(
    (name) => name !== COMPUTED,
  );
  const isSame = (name: string) =>
    Object.hasOwn(own, name)
      ? Object.hasOwn(other, name) && matches(own[name], other[name])
      : COMPUTED in own;
  const name = names.find((one) => !isSame(one));
  return name === undefined ? { path, own, other } : findDifference([...path, name], own[name], other[name]);
}

/** What stands for a value that is computed at run time; beside other keys, it means that there are more. */
const COMPUTED = '$computed';

function isComputed(value: unknown): boolean {
  return isRecord(value) && COMPUTED in value;
}

function matches(own: unknown, other: unknown): boolean {
  if (Array.isArray(own)) {
    if (!Array.isArray(other)) return false;
    // A computed item of a list may be any number of items.
    if (own.some(isComputed) && own.length !== other.length)
      return own.every((item) => isComputed(item) || other.some((one) => matches(item, one)));
    return own.length === other.length && own.every((item, at) => matches(item, other[at]));
  }
  if (!isRecord(own)) return own === other;
  if (isComputed(own) && Object.keys(own).length === 1) return true;
  if (!isRecord(other)) return false;
  const names = Object.keys(own).filter((name) => name !== COMPUTED);
  const isWhole = isComputed(own) || Object.keys(other).length === names.length;
  return isWhole && names.every((name) => Object.hasOwn(other, name) && matches(own[name], other[name]));
}

function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none');
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
