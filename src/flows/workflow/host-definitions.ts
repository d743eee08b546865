import type { ListedDefinition } from '../../contract/compare-definitions.js';
import { isRecord } from '../../contract/json.js';
import { type ReadDefinition, readDefinition } from './check-node.js';
import hostNodes from './host-nodes.json' with { type: 'json' };

/** How workflows record the nodes of the host itself. */
export const HOST_PACK = 'comfy-core';

/** The nodes that the host has without any pack. */
export interface HostNodes {
  readonly names: ReadonlySet<string>;
  /** Present if a host described them, packs that are installed there included. */
  readonly definitions?: ReadonlyMap<string, ReadDefinition>;
  /** What knows them, in a sentence. */
  readonly about: string;
}

/** The names of a table, without their definitions. */
export function listHostNodes(): HostNodes {
  const lines = [...hostNodes.answered, ...hostNodes.documented];
  return {
    names: new Set(lines.flatMap((line) => line.split('|'))),
    about: `the table of ${hostNodes.host}`,
  };
}

/** A definition as a host describes it, with the Python module that it is from. */
export interface HostDefinition extends ListedDefinition {
  readonly host_node_name: string;
  readonly description?: string | undefined;
  readonly experimental?: boolean | undefined;
  readonly output_is_list?: readonly boolean[] | undefined;
  readonly module: string;
}

/**
 * Reads what a host answers to /object_info.
 * @returns undefined if it is something else
 */
export function parseObjectInfo(whole: unknown): HostDefinition[] | undefined {
  if (!isRecord(whole)) return undefined;
  const entries = Object.entries(whole);
  const found = entries.flatMap(([name, one]) =>
    isRecord(one) && isRecord(one.input) ? [toListed(name, one)] : [],
  );
  return found.length > 0 && found.length === entries.length ? found : undefined;
}

function toListed(name: string, info: Readonly<Record<string, unknown>>): HostDefinition {
  const { output_name: names, output_is_list: lists, function: called } = info;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  return {
    host_node_name: name,
    input_types: JSON.stringify(info.input),
    return_types: JSON.stringify(info.output ?? []),
    return_names: JSON.stringify(names ?? []),
    ...(Array.isArray(lists) && { output_is_list: lists.map(Boolean) }),
    category: text(info.category),
    description: text(info.description),
    function: text(called),
    deprecated: info.deprecated === true,
    experimental: info.experimental === true,
    module: text(info.python_module) ?? '',
  };
}

/** What a host describes; its own nodes are those that are not from a pack. */
export function toHostNodes(definitions: readonly HostDefinition[], about: string): HostNodes {
  const own = definitions.filter(({ module }) => !module.startsWith('custom_nodes.'));
  return {
    names: new Set(own.map(({ host_node_name }) => host_node_name)),
    definitions: new Map(definitions.map((one) => [one.host_node_name, readDefinition(one)])),
    about,
  };
}
