import type { HostNodeFields } from './definitions.js';
import { payWriting, renderValue } from './render.js';
import { isKind, type Machine, type Value } from './values.js';

type Field = Exclude<keyof HostNodeFields, 'policy' | 'host_node_name'>;

/** Collects what is known of one definition, and the names of what is not. */
export class Definition {
  readonly fields: HostNodeFields;
  readonly unknown: string[] = [];

  constructor(
    name: string,
    readonly machine: Machine,
  ) {
    this.fields = { host_node_name: name };
  }

  text(field: 'category' | 'description' | 'function', value: Value | undefined): void {
    if (typeof value === 'string') {
      payWriting(value, this.machine);
      this.fields[field] = value;
    } else if (value !== undefined && value !== null) this.unknown.push(field);
  }

  flag(field: 'deprecated' | 'experimental', value: Value | undefined): void {
    if (typeof value === 'boolean') this.fields[field] = value;
    else if (value !== undefined && value !== null) this.unknown.push(field);
  }

  json(field: 'input_types' | 'return_types' | 'return_names', value: Value): void {
    const { text, computed } = renderValue(value, this.machine);
    this.fields[field] = text;
    this.unknown.push(...computed.map((path) => (path === '' ? field : `${field}.${path}`)));
  }

  lists(flags: readonly Value[]): void {
    this.machine.spend(flags.length);
    if (flags.every((flag) => typeof flag === 'boolean'))
      this.fields.output_is_list = flags.map((flag) => flag === true);
    else this.unknown.push('output_is_list');
  }

  missing(...fields: Field[]): void {
    this.unknown.push(...fields);
  }
}

/** The items of a tuple or list, each of them known to be one; else undefined. */
export function getKnownItems(value: Value | undefined): Value[] | undefined {
  if (!isKind(value, 'list')) return undefined;
  return value.items.some((item) => isKind(item, 'unknown') && item.many) ? undefined : value.items;
}
