import { findAttribute } from './ancestry.js';
import { defineFromAttributes, defineFromSchema } from './define-node.js';
import {
  DEFINITIONS_TOO_LARGE,
  type Definitions,
  type FoundNode,
  MAX_DEFINITION_BYTES,
  measureDefinition,
  type Unresolved,
} from './definitions.js';
import type { ParsePython } from './grammar.js';
import { Interpreter } from './interpreter.js';
import { listItems } from './items.js';
import { PACK_NAME, type PackModules } from './pack-modules.js';
import { Definition, describeValue } from './render.js';
import { findLine } from './syntax.js';
import { findUnregistered } from './unregistered.js';
import {
  type ClassValue,
  createArguments,
  createDict,
  type DictValue,
  isKind,
  isUnknown,
  type ModuleValue,
  type Value,
} from './values.js';

/** Steps for importing the whole pack, for one node's inputs, and for all together. */
export interface StepBudget {
  readonly forImport: number;
  readonly forNode: number;
  /** What is left of it when the work is done. */
  total: number;
}

/** Far beyond what published packs take. */
function createBudget(): StepBudget {
  return { forImport: 5_000_000, forNode: 600_000, total: 8_000_000 };
}

/** Nodes of one pack, and characters of their names: what the contract takes. */
const MAX_NODES = 20_000;
const MAX_NAME = 1024;
const MAX_SENTENCE = 500;

const ROOT = '__init__.py';

/** Lists the nodes a pack registers, without running any of it. Never throws. */
export function extractDefinitions(
  modules: PackModules,
  parse: ParsePython,
  budget = createBudget(),
): Definitions {
  try {
    return new Extraction(new Interpreter(modules, parse), budget).run();
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error;
    return { nodes: [], unresolved: [{ file: ROOT, line: 1, what: DEFINITIONS_TOO_LARGE }], followed: false };
  }
}

/** Thrown once the definitions are too large together, before the next one is written. */
class TooLarge extends Error {}

type Place = Pick<FoundNode, 'class' | 'file' | 'line'>;

/** Where a value was named, as far as that is known. */
function locate(value: Value): Place {
  const at = isUnknown(value) ? value.at : undefined;
  return { file: at?.source.path ?? ROOT, line: at ? findLine(at) : 1 };
}

class Extraction {
  readonly #nodes = new Map<string, FoundNode>();
  readonly #unresolved: Unresolved[] = [];
  #written = 0;
  /** Whether it is certain that the host finds no nodes, if none were found here. */
  #isCertain = true;
  /** Names of classes that are listed, or reported by themselves. */
  readonly #mentioned = new Set<string>();

  constructor(
    readonly interpreter: Interpreter,
    readonly budget: StepBudget,
  ) {}

  run(): Definitions {
    const { modules } = this.interpreter;
    if (modules.paths().length === 0) return { nodes: [], unresolved: [], isEmpty: true };
    if (modules.file(ROOT)) this.#follow();
    else this.#report(ROOT, 1, 'the pack has no __init__.py in its root folder, so the host finds no nodes');
    const nodes = [...this.#nodes.values()];
    const [left, ...others] = findUnregistered(modules, this.#mentioned);
    if (left) {
      // What decorates a class may register it.
      if ([left, ...others].some(({ decorators }) => decorators.length > 0)) this.#isCertain = false;
      const all = [left, ...others].map(({ name, file, line }) => `${name} (${file}:${line})`);
      const what = 'classes look like nodes and are not registered, as far as the code can be followed';
      this.#report(
        left.file,
        left.line,
        `${what}: ${all.slice(0, 10).join(', ')}${all.length > 10 ? ` and ${all.length - 10} more` : ''}`,
      );
    }
    const isEmpty = this.#isCertain && nodes.length === 0;
    return { nodes, unresolved: this.#unresolved, ...(isEmpty && { isEmpty }) };
  }

  #follow(): void {
    const root = this.#load(ROOT);
    const mapping = root?.scope.names.get('NODE_CLASS_MAPPINGS');
    const entry = root?.scope.names.get('comfy_entrypoint');
    // The host looks for the mapping first, and for an extension only where there is none.
    const listed = mapping === undefined || mapping === null ? entry && this.#listNodes(entry) : mapping;
    // What is not followed in a definition shows there.
    const gaps = [...this.interpreter.gaps];
    if (mapping !== undefined && mapping !== null) this.#fromMapping(mapping, ROOT);
    else if (entry !== undefined) this.#fromList(listed);
    for (const { key } of root?.scope.rest ?? []) this.#computed(key, 'names are set at run time');
    const isOpen = this.#unresolved.length > 0;
    const isPlain = !root?.scope.names.has('*') && !this.interpreter.loaded.some((one) => one.isDynamic);
    this.#isCertain = isPlain && !isOpen && gaps.length === 0;
    for (const { file, line, what } of gaps) this.#report(file, line, what);
    if (listed === undefined && entry === undefined)
      this.#report(
        ROOT,
        1,
        `neither NODE_CLASS_MAPPINGS nor comfy_entrypoint is set${this.#isCertain ? '' : ', as far as it can be followed'}`,
      );
    if (this.#nodes.size === 0 && isOpen) this.#fromOtherModules();
  }

  #load(path: string): ModuleValue | undefined {
    const loaded = this.#within(this.budget.forImport, () => this.interpreter.loadFile(path));
    if (loaded) return loaded;
    this.#report(path, 1, 'the pack takes too many steps to follow at import; later definitions are missing');
    return this.interpreter.within(1000, () => this.interpreter.loadFile(path));
  }

  #within<Result>(steps: number, work: () => Result): Result | undefined {
    return this.interpreter.within(Math.min(steps, this.budget.total), work, (taken) => {
      this.budget.total -= taken;
    });
  }

  #report(file: string, line: number, what: string): void {
    what = what.slice(0, MAX_SENTENCE);
    const same = (one: Unresolved) => one.file === file && one.line === line && one.what === what;
    if (this.#unresolved.length < 500 && !this.#unresolved.some(same))
      this.#unresolved.push({ file, line, what });
  }

  #computed(value: Value, what: string): void {
    const { file, line } = locate(value);
    this.#report(file, line, `${what}: ${describeValue(value)}`);
  }

  #fromMapping(mapping: Value, path: string): void {
    if (!isKind(mapping, 'dict')) {
      this.#computed(mapping, `NODE_CLASS_MAPPINGS of ${path} is computed at run time`);
      return;
    }
    const given = this.interpreter.handedOn.get(mapping.entries);
    if (given)
      this.#report(
        given.at?.source.path ?? path,
        given.at ? findLine(given.at) : 1,
        `another package may register more nodes: ${given.text}`,
      );
    for (const [key, value] of mapping.entries) {
      if (this.#nodes.size >= MAX_NODES) {
        this.#report(path, 1, `more than ${MAX_NODES} nodes are registered; the others are left out`);
        break;
      }
      if (String(key).includes(PACK_NAME))
        this.#report(path, 1, 'a node has a name that depends on the place of the pack');
      else if (String(key).length <= MAX_NAME) this.#named(String(key), value);
      else this.#report(path, 1, `a node has a name of more than ${MAX_NAME} characters; it is left out`);
    }
    for (const { key, value } of mapping.rest) {
      if (isKind(value, 'class')) this.#mentioned.add(value.name);
      const name = isKind(value, 'class') && `class ${value.name} is registered under a computed name`;
      if (name) this.#report(value.path, value.line, `${name}: ${key.text}`);
      else this.#computed(key, 'nodes are registered at run time');
    }
  }

  #named(name: string, value: Value): void {
    if (value === null) return;
    if (isKind(value, 'class')) {
      this.#add(name, value);
      return;
    }
    this.#addBare(name, locate(value));
    this.#computed(value, `the class of "${name}" is computed at run time`);
  }

  /** Adds a node of which nothing is known but its name and where it is named. */
  #addBare(name: string, place: Place): void {
    const { fields, unknown } = new Definition(name, this.interpreter);
    unknown.push('category', 'function', 'input_types', 'return_types');
    this.#keep({ name, ...place, definition: fields, unknown });
  }

  #keep(node: FoundNode): void {
    // What is not known of a definition is part of the report.
    this.#written += measureDefinition(node.definition) + node.unknown.join().length;
    if (this.#written > MAX_DEFINITION_BYTES) throw new TooLarge();
    this.#nodes.set(node.name, node);
  }

  #add(name: string | undefined, node: ClassValue): void {
    this.#mentioned.add(node.name);
    const definition = this.#within(this.budget.forNode, () => {
      const isSchema = findAttribute(node, 'define_schema') !== undefined;
      if (isSchema) return defineFromSchema(name, node, this.interpreter);
      return name === undefined ? undefined : defineFromAttributes(name, node, this.interpreter);
    });
    const place = { class: node.name, file: node.path || ROOT, line: node.line || 1 };
    const found = definition?.fields.host_node_name;
    if (definition && found !== undefined) {
      const { fields, unknown } = definition;
      this.#keep({ name: found, ...place, definition: fields, unknown: [...new Set(unknown)] });
      return;
    }
    const what = `what class ${node.name} defines cannot be followed: it is computed at run time`;
    this.#report(node.path, node.line, what);
    if (name !== undefined) this.#addBare(name, place);
  }

  #listNodes(entry: Value): Value | undefined {
    return this.#within(this.budget.forImport, () => {
      const extension = this.interpreter.call(entry, createArguments([], 'comfy_entrypoint()'));
      const method = this.interpreter.attribute(extension, 'get_node_list', 'get_node_list');
      return this.interpreter.call(method, createArguments([], 'get_node_list()'));
    });
  }

  #fromList(listed: Value | undefined): void {
    const nodes = this.#within(this.budget.forNode, () => listItems(listed, this.interpreter));
    if (!nodes) {
      this.#computed(listed ?? null, 'the list of nodes is computed at run time');
      return;
    }
    for (const node of nodes) {
      if (isKind(node, 'class')) this.#add(undefined, node);
      else this.#computed(node, 'nodes are listed at run time');
    }
  }

  /**
   * Where another package does the registering, it goes by the mappings of the pack's own modules; listing those is the
   * best that is known, and the report says that it is not certain.
   */
  #fromOtherModules(): void {
    const merged: DictValue = createDict();
    for (const path of this.interpreter.modules.paths()) {
      const file = this.interpreter.modules.file(path);
      const states = file?.statements.some(
        (one) =>
          one.kind === 'assign' &&
          one.targets.some((t) => t.kind === 'name' && t.id === 'NODE_CLASS_MAPPINGS'),
      );
      const mapping = states ? this.#load(path)?.scope.names.get('NODE_CLASS_MAPPINGS') : undefined;
      if (path === ROOT || !isKind(mapping, 'dict')) continue;
      this.#report(
        path,
        1,
        'nodes of this module are listed as it states them; whether they are registered is decided at run time',
      );
      for (const [key, value] of mapping.entries)
        if (!merged.entries.has(key)) merged.entries.set(key, value);
    }
    if (merged.entries.size > 0) this.#fromMapping(merged, ROOT);
  }
}
