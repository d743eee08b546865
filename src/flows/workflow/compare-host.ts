import type { z } from 'zod';
import { COMPUTED_KEY, isComputed } from '../../contract/compare-definitions.js';
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
export function compareWithHost(listed: readonly Definition[], live: readonly HostDefinition[]) {
  const ours = new Map(listed.map((one) => [one.host_node_name ?? '', one]));
  const theirs = new Map(live.map((one) => [one.host_node_name, one]));
  const common = [...ours].flatMap(([name, own]) => {
    const host = theirs.get(name);
    return host ? [{ own, host }] : [];
  });
  const different = common.map(({ own, host }) => compareDefinition(own, host));
  const pack = findPackModule(common.map(({ host }) => host.module));
  const unlisted = live.filter(({ host_node_name: name, module }) => module === pack && !ours.has(name));
  const differences: HostDifference[] = [
    ...different.flat(),
    ...unlisted.map(({ host_node_name }) => ({ host_node_name, ...ONLY_LOADED })),
  ];
  return {
    differences: differences.sort((one, other) => (one.host_node_name < other.host_node_name ? -1 : 1)),
    notLoaded: [...ours.keys()].filter((name) => !theirs.has(name)).sort(),
    equal: different.filter((one) => one.length === 0).length,
  };
}

const ONLY_LOADED = { field: 'node', registry: '', host: 'loaded' };

/** The module that most nodes are from, if it is that of a pack. */
function findPackModule(modules: readonly string[]): string | undefined {
  const counts = new Map<string, number>();
  for (const module of modules)
    if (module.startsWith('custom_nodes.')) counts.set(module, (counts.get(module) ?? 0) + 1);
  return [...counts].sort((one, other) => other[1] - one[1])[0]?.[0];
}

function compareDefinition(own: Definition, host: HostDefinition): HostDifference[] {
  const found = [...FIELDS, ...FLAGS].flatMap((field) => {
    const [ours, theirs] = [own[field], host[field]].map((value) => parseField(field, value));
    // A field that is not listed is not known.
    return ours === undefined ? [] : (findDifference([field], ours, theirs ?? '') ?? []);
  });
  return found.map(({ path, own: registry, other }) => ({
    host_node_name: host.host_node_name,
    field: path.join('.'),
    registry: describeValue(registry),
    host: describeValue(other),
  }));
}

/** Three of the fields are JSON text. */
function parseField(field: string, value: unknown): unknown {
  return typeof value === 'string' && /_(?:types|names)$/.test(field) ? parseJson(value) : value;
}

interface Difference {
  readonly path: readonly string[];
  readonly own: unknown;
  readonly other: unknown;
}

/** Follows objects to the first part that differs, so that a long definition is not shown whole. */
function findDifference(path: readonly string[], own: unknown, other: unknown): Difference | undefined {
  const here = { path, own, other };
  if (Array.isArray(own)) return Array.isArray(other) && matchLists(own, other) ? undefined : here;
  if (!isRecord(own)) return own === other ? undefined : here;
  const isOpen = isComputed(own);
  const names = Object.keys(own).filter((name) => name !== COMPUTED_KEY);
  if (isOpen && names.length === 0) return undefined;
  if (!isRecord(other)) return here;
  const more = isOpen ? [] : Object.keys(other).filter((name) => !Object.hasOwn(own, name));
  for (const name of [...names, ...more]) {
    const [ours, theirs] = [own, other].map((one) => (Object.hasOwn(one, name) ? one[name] : undefined));
    const next = [...path, name];
    // What is computed matches any value, but not that there is none.
    if (theirs === undefined) return { path: next, own: ours, other: theirs };
    const found = findDifference(next, ours, theirs);
    if (found) return found;
  }
  return undefined;
}

function matchLists(own: readonly unknown[], other: readonly unknown[]): boolean {
  const matches = (one: unknown, at: number) => findDifference([], one, other[at]) === undefined;
  if (own.length === other.length) return own.every(matches);
  // A computed item of a list may be any number of items.
  return (
    own.some(isComputed) && own.every((item) => isComputed(item) || other.some((_, at) => matches(item, at)))
  );
}

function describeValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'none');
  return text.length > 200 ? `${text.slice(0, 199)}…` : text;
}
