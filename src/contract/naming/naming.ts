import { isRecord } from '../json.js';
import type { Names } from '../schema/message.js';
import type { Outline } from '../schema/outline.js';
import type { Behaviors, NamingMap, Rewrite, Words } from './naming-map.js';
import { renameValue, type Side } from './rename-value.js';

/** An operation whose requests and answers are renamed. */
export interface NamedOperation {
  /** Its dotted name; absent for one that is not of the contract. */
  readonly name?: string | undefined;
  readonly method: string;
  /** With the names of its parameters in braces. */
  readonly path: string;
  readonly body?: Outline | undefined;
  readonly response?: Outline | undefined;
  /** The outlines that others refer to by number. */
  readonly shared?: readonly Outline[] | undefined;
}

/** The parts of a request that have names. */
interface NamedParts {
  readonly query: Readonly<Record<string, unknown>>;
  readonly body: unknown;
}

/** The names of another service, ready to be used. Identity is the absence of a naming. */
export class Naming {
  readonly behaviors: Behaviors;
  readonly rewrites: readonly Rewrite[];
  /** What to say at paths of the other service that mean nothing here. */
  readonly unsupported: Words;
  readonly #map: NamingMap;
  readonly #values: Words;

  constructor(map: NamingMap) {
    this.#map = map;
    this.behaviors = map.behaviors ?? {};
    this.rewrites = map.paths?.rewrites ?? [];
    this.unsupported = map.paths?.unsupported ?? {};
    this.#values = Object.assign({}, ...Object.values(map.values ?? {}));
  }

  /** The same path with the other service's segments. */
  renamePath(path: string): string {
    const words = this.#map.paths?.segments ?? {};
    return path.replace(/[^/]+/g, (segment) => lookUp(words, segment));
  }

  /** Renames a valid request for the other service. */
  writeRequest(
    operation: NamedOperation,
    { query, body }: NamedParts,
  ): NamedParts & { readonly path: string } {
    const added = this.behaviors.addedQuery?.[operation.name ?? ''];
    return {
      path: this.#choosePath(operation, query),
      query: { ...this.renameQuery(query, 'theirs'), ...added },
      body: this.#rename(operation, 'body', body, 'theirs'),
    };
  }

  /** Gives a request the names of the contract; it may have either. */
  readRequest(operation: NamedOperation, { query, body }: NamedParts): NamedParts {
    return { query: this.renameQuery(query, 'ours'), body: this.#rename(operation, 'body', body, 'ours') };
  }

  /** Gives an answer the names of the contract. */
  readAnswer(operation: NamedOperation, answer: unknown): unknown {
    const wrapper = this.behaviors.wrappedAnswers?.[operation.name ?? ''];
    const inner = wrapper !== undefined && isRecord(answer) ? answer[wrapper] : undefined;
    return this.#rename(operation, 'response', inner ?? answer, 'ours');
  }

  /** Gives an answer the names of the other service. */
  writeAnswer(operation: NamedOperation, answer: unknown): unknown {
    const wrapper = this.behaviors.wrappedAnswers?.[operation.name ?? ''];
    const renamed = this.#rename(operation, 'response', answer, 'theirs');
    return wrapper === undefined ? renamed : { [wrapper]: renamed };
  }

  #rename(operation: NamedOperation, part: 'body' | 'response', value: unknown, to: Side): unknown {
    return this.renameBody(operation.name, operation[part], value, to, operation.shared);
  }

  /** The path at which a client finds an operation on the other service. */
  #choosePath({ method, path }: NamedOperation, query: Readonly<Record<string, unknown>>): string {
    const other = this.rewrites.find(
      (rewrite) =>
        rewrite.regen === `${method} ${path}` &&
        !(rewrite.body ?? rewrite.query ?? rewrite.answer) &&
        (rewrite.with === undefined || rewrite.with.some((name) => query[name] !== undefined)),
    );
    return other ? (other.real.split(' ')[1] as string) : this.renamePath(path);
  }

  renameQuery<Value>(
    query: Readonly<Record<string, Value>>,
    to: 'ours' | 'theirs',
  ): Readonly<Record<string, Value>> {
    const words = to === 'theirs' ? (this.#map.query ?? {}) : invert(this.#map.query ?? {});
    return Object.fromEntries(
      Object.entries(query).map(([name, value]) => [lookUp(words, name), this.#renameTexts(name, value, to)]),
    );
  }

  #renameTexts<Value>(field: string, value: Value, to: 'ours' | 'theirs'): Value {
    const table = this.#map.values?.[field];
    if (!table) return value;
    const words = to === 'theirs' ? table : invert(table);
    const rename = (one: unknown) => (typeof one === 'string' ? lookUp(words, one) : one);
    return (Array.isArray(value) ? value.map(rename) : rename(value)) as Value;
  }

  /**
   * Renames the fields and values of a body that its outline declares, and nothing else. Names that are already those
   * of the wanted side stay.
   * @param shared the outlines that others refer to by number
   * @param fills whether fields that the other service always sends are added
   */
  renameBody(
    operation: string | undefined,
    outline: Outline | undefined,
    value: unknown,
    to: Side,
    shared: readonly Outline[] = [],
    fills = false,
  ): unknown {
    if (!outline) return value;
    const own = operation === undefined ? {} : this.listOwnFields(operation);
    const { fields = {}, values = {}, valueKeyed = [], opaque = [] } = this.#map;
    const words = { fields: { ...fields, ...own }, values, valueKeyed, opaque, keys: this.#values };
    const { alwaysSent = {} } = fills ? this.behaviors : {};
    return renameValue(outline, value, { words, to, shared, alwaysSent });
  }

  /** Whether a text is a word of the other service in the place of a contract's value. */
  renameWord(field: string, text: string, to: 'ours' | 'theirs'): string {
    return this.#renameTexts(field, text, to);
  }

  /** The other service's name of a field of the contract, in an answer, a body or a query. */
  translateField(name: string): string {
    return lookUp({ ...this.#map.query, ...this.#map.fields }, name);
  }

  /** How messages call fields and values. */
  readonly names: Names = {
    field: (path) =>
      path
        .split('.')
        .map((key) => this.translateField(key))
        .join('.'),
    value: (value) => this.translateValue(value),
  };

  /** The other service's name of a value of any field. */
  translateValue(value: string): string {
    return lookUp(this.#values, value);
  }

  /** Fields that have another name in one operation only. */
  listOwnFields(operation: string): Words {
    return this.#map.operations?.[operation] ?? {};
  }

  /** What the registry of the other service accepts of a pack. */
  get packRules() {
    const { openValues, completeVersions: completesVersions } = this.behaviors;
    return { anyPublisherId: openValues?.includes('publisherId'), completesVersions };
  }

  /** The code of the contract for an error of the other service; undefined if nothing is known of it. */
  findErrorCode(status: number, text: string): string | undefined {
    const meanings = this.#map.errors?.meaningFromText ?? [];
    const lowered = text.toLowerCase();
    return meanings.find(
      (one) => [one.status].flat().includes(status) && lowered.includes(one.contains.toLowerCase()),
    )?.code;
  }
}

function lookUp(words: Words, word: string): string {
  return Object.hasOwn(words, word) ? (words[word] as string) : word;
}

function invert(words: Words): Words {
  return Object.fromEntries(Object.entries(words).map(([ours, theirs]) => [theirs, ours]));
}
