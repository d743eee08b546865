import { descendsFrom } from './ancestry.js';
import type { HostNodeFields } from './definitions.js';
import { PACK_NAME } from './pack-modules.js';
import { isKind, isObject, type Machine, type Value } from './values.js';

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
    if (typeof value === 'string' && !value.includes(PACK_NAME)) {
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

  /** A list of which nothing is known but that it is computed. */
  computed(field: 'return_types' | 'return_names', text: string): void {
    payWriting(text, this.machine);
    this.fields[field] = JSON.stringify([{ $computed: text }]);
    this.unknown.push(field);
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

/** Beyond this a definition is an attack, not an interface. */
const MAX_LENGTH = 512 * 1024;
const MAX_DEPTH = 20;

interface Rendered {
  /** JSON in which `{"$computed": "<source>"}` stands for what only running the pack would tell. */
  readonly text: string;
  /** Where such marks stand, such as `required.ckpt_name`. */
  readonly computed: string[];
}

/** Characters of a text that is only shown. */
const MAX_SHOWN = 200;

/** Source text of what is not known, for people. */
export function describeValue(value: Value): string {
  return getSourceText(value).slice(0, MAX_SHOWN);
}

function getSourceText(value: Value): string {
  if (!isObject(value)) return String(value);
  switch (value.kind) {
    case 'unknown':
      return value.text;
    case 'external':
      return value.called?.text ?? value.name;
    case 'class':
    case 'function':
      return value.name;
    case 'instance':
      return `${value.class.name}(…)`;
    default:
      return value.kind;
  }
}

/** Pays for text that becomes part of the report: what is written of one pack stays below some 32 MB. */
function payWriting(text: string, machine: Machine): void {
  machine.spend(1 + text.length / 4);
}

/** A value as the host would write it, integers with all their digits. */
// Decided: JSON text of definitions holds `{"$computed": "<source>"}` wherever a value is computed at run time; as a
// key beside others it means that there are more.
function renderValue(value: Value, machine: Machine): Rendered {
  const writer = new Writer(machine);
  const text = writer.write(value, []);
  return { text, computed: [...writer.computed] };
}

class Writer {
  readonly computed = new Set<string>();
  #length = 0;

  constructor(readonly machine: Machine) {}

  write(value: Value, path: string[]): string {
    if (this.#isFull || path.length > MAX_DEPTH) return this.#mark('…', path);
    if (!isObject(value)) return this.#plain(value, path);
    switch (value.kind) {
      case 'list': {
        const items: string[] = [];
        for (const [index, item] of value.items.entries()) {
          items.push(this.write(item, [...path, String(index)]));
          if (this.#isFull) break;
        }
        return `[${items.join(',')}]`;
      }
      case 'dict': {
        const entries: string[] = [];
        for (const [key, one] of value.entries) {
          entries.push(this.#entry(String(key), one, path));
          if (this.#isFull) break;
        }
        if (value.rest.length > 0) {
          const texts = value.rest.slice(0, 20).map(({ key }) => key.text.slice(0, MAX_SHOWN));
          entries.push(this.#count(`"$computed":${JSON.stringify(texts.join(', '))}`));
          this.#note(path);
        }
        return `{${entries.join(',')}}`;
      }
      case 'instance': {
        // A member of `class Mode(str, Enum)` is written as its text.
        const inner = value.attributes.get('value');
        if (descendsFrom(value.class, 'str', 'StrEnum') && typeof inner === 'string')
          return this.#plain(inner, path);
        return this.#mark(describeValue(value), path);
      }
      default:
        return this.#mark(describeValue(value), path);
    }
  }

  /** Where the text is full, what surrounds it ends with a mark. */
  get #isFull(): boolean {
    return this.#length > MAX_LENGTH;
  }

  #entry(key: string, value: Value, path: string[]): string {
    return `${this.#count(JSON.stringify(key))}:${this.write(value, [...path, key])}`;
  }

  #plain(value: string | bigint | number | boolean | null, path: string[]): string {
    if (typeof value === 'string')
      return value.includes(PACK_NAME) ? this.#mark('__name__', path) : this.#count(JSON.stringify(value));
    if (typeof value !== 'number') return this.#count(String(value));
    if (!Number.isFinite(value)) return this.#mark(String(value), path);
    return this.#count(Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value));
  }

  #mark(text: string, path: string[]): string {
    this.#note(path);
    return this.#count(`{"$computed":${JSON.stringify(text)}}`);
  }

  /** Two levels name an input; what is inside of it is part of it. */
  #note(path: string[]): void {
    if (this.computed.size < 1000) {
      const names = path.slice(0, 2).map((name) => name.slice(0, MAX_SHOWN));
      this.computed.add(names.join('.'));
    }
  }

  #count(text: string): string {
    this.#length += text.length + 1;
    payWriting(text, this.machine);
    return text;
  }
}
