import { descends, isObject, type Value } from './values.js';

/** Beyond this a definition is an attack, not an interface. */
const MAX_LENGTH = 512 * 1024;
const MAX_DEPTH = 20;

export interface Rendered {
  /** JSON in which `{"$computed": "<source>"}` stands for what only running the pack would tell. */
  readonly text: string;
  /** Where such marks stand, such as `required.ckpt_name`. */
  readonly computed: string[];
}

/** Source text of what is not known, for people. */
export function textOf(value: Value): string {
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

/** A value as the host would write it, integers with all their digits. */
// Decided: JSON text of definitions holds `{"$computed": "<source>"}` wherever a value is computed at run time; as a
// key beside others it means that there are more.
export function render(value: Value): Rendered {
  const writer = new Writer();
  const text = writer.write(value, []);
  return { text, computed: [...writer.computed] };
}

class Writer {
  readonly computed = new Set<string>();
  #length = 0;

  write(value: Value, path: string[]): string {
    if (this.#length > MAX_LENGTH || path.length > MAX_DEPTH) return this.#mark('…', path);
    if (!isObject(value)) return this.#plain(value, path);
    switch (value.kind) {
      case 'list':
        return `[${value.items.map((item, index) => this.write(item, [...path, String(index)])).join(',')}]`;
      case 'dict': {
        const entries = [...value.entries].map(([key, one]) => this.#entry(String(key), one, path));
        if (value.rest.length > 0) {
          const texts = value.rest.map(({ key }) => key.text);
          entries.push(this.#count(`"$computed":${JSON.stringify(texts.slice(0, 20).join(', '))}`));
          this.#note(path);
        }
        return `{${entries.join(',')}}`;
      }
      case 'instance': {
        // A member of `class Mode(str, Enum)` is written as its text.
        const inner = value.attributes.get('value');
        if (descends(value.class, 'str', 'StrEnum') && typeof inner === 'string')
          return this.#plain(inner, path);
        return this.#mark(textOf(value), path);
      }
      default:
        return this.#mark(textOf(value), path);
    }
  }

  #entry(key: string, value: Value, path: string[]): string {
    return `${this.#count(JSON.stringify(key))}:${this.write(value, [...path, key])}`;
  }

  #plain(value: string | bigint | number | boolean | null, path: string[]): string {
    if (typeof value === 'string') return this.#count(JSON.stringify(value));
    if (typeof value !== 'number') return this.#count(String(value));
    if (!Number.isFinite(value)) return this.#mark(String(value), path);
    return this.#count(Number.isInteger(value) && Math.abs(value) < 1e16 ? value.toFixed(1) : String(value));
  }

  #mark(text: string, path: string[]): string {
    this.#note(path);
    return this.#count(`{"$computed":${JSON.stringify(text.slice(0, 200))}}`);
  }

  /** Two levels name an input; what is inside of it is part of it. */
  #note(path: string[]): void {
    if (this.computed.size < 1000) this.computed.add(path.slice(0, 2).join('.'));
  }

  #count(text: string): string {
    this.#length += text.length + 1;
    return text;
  }
}
