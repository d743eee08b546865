import type { Node } from 'web-tree-sitter';
import { Expressions, getField, listParts, readName } from '../definitions/expressions.js';
import { readImports } from '../definitions/statements.js';
import { type Expression, findLine, type Source } from '../definitions/syntax.js';
import { getPlainText, listInner, readItem } from './expression-parts.js';

/** A call, and the function it stands in: 0 for the module itself. */
export interface Call {
  readonly name: string;
  readonly expression: Expression & { readonly kind: 'call' };
  readonly scope: number;
  readonly line: number;
}

interface Parameters {
  readonly parent: number;
  readonly name: string;
  readonly names: string[];
  readonly isMethod: boolean;
}

const MAX_NODES = 60_000;
/** Syntax nodes turned into plain data, about a second's worth: hostile nesting would make it quadratic. */
const MAX_READ = 400_000;

/** Arguments of one call that are searched for the value of a parameter. */
const MAX_ARGUMENTS = 100;

/** What gets another name by an assignment: it is known by the name that it has otherwise. */
const SECOND_NAMED =
  /^(?:(?:exec|eval|compile|getattr|__import__|__builtins__|builtins|requests|httpx|urllib|aiohttp|subprocess|os|posix|importlib|base64|pickle|marshal|codecs|zlib)(?:\.\w+)*|(?:requests\.[sS]ession|aiohttp\.ClientSession|httpx\.(?:Async)?Client|http\.client\.HTTPS?Connection|urllib3\.PoolManager|socket\.socket|zlib\.decompressobj|code\.Interactive(?:Interpreter|Console))\(\))(?:\[\])?$/;

/** What gives what it is given, or the names in it. */
const WRAPPERS = /^(?:builtins\.)?(?:staticmethod|classmethod|vars)$/;
const GETTERS = /\.(?:get|__getitem__|__getattribute__|__getattr__)$/;

const FUNCTIONS = ['function_definition', 'lambda'];
const SCOPES = [...FUNCTIONS, 'class_definition'];
const BINDINGS = [
  ...['assignment', 'augmented_assignment', 'named_expression', 'with_item', 'for_statement'],
  ...['for_in_clause', 'default_parameter', 'typed_default_parameter', 'return_statement', 'yield'],
];
const CALLS = ['call', 'decorated_definition'];
const IMPORTS = ['import_statement', 'import_from_statement', 'global_statement'];

/** Functions around one another, and assignments in one line, that are followed. */
const MAX_CHAIN = 5;
/** Values of one name, and entries of one list, that are looked at. */
const MAX_VALUES = 20;

/** A value, and the function in which its names mean something. */
export type Value = Pick<Call, 'scope'> & { readonly value: Expression };

/** What a file says, as far as the rules ask: who is called with what, and which names stand for which values. */
export class Facts {
  readonly calls: Call[] = [];
  /** By scope and name, with `name[]` for items; attributes are `.name` and results `name()` of any object. */
  readonly #assigned = new Map<string, Value[]>();
  readonly #globals = new Set<string>();
  readonly #modules = new Map<string, string>();
  readonly #functions = new Map<number, Parameters>();
  readonly #callsByName = new Map<string, Call[]>();
  readonly #read: Expressions;
  #isWhole = true;

  constructor(root: Node, source: Source) {
    this.#read = new Expressions(source, MAX_READ);
    // Asking each node for its parents would be quadratic; nodes come in the order of the text, so a stack suffices.
    const within: { id: number; end: number; isClass: boolean }[] = [];
    const found: { node: Node; scope: number; isInClass: boolean }[] = [];
    for (const node of root.descendantsOfType([...SCOPES, ...BINDINGS, ...IMPORTS, ...CALLS])) {
      if (!node || found.length >= MAX_NODES) {
        this.#isWhole = false;
        break;
      }
      while ((within.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= node.startIndex) within.pop();
      const { id: scope = 0, isClass: isInClass = false } = within.at(-1) ?? {};
      found.push({ node, scope, isInClass });
      if (!SCOPES.includes(node.type)) continue;
      const isClass = node.type === 'class_definition';
      within.push({ id: isClass ? scope : this.#function(node, scope), end: node.endIndex, isClass });
    }
    // Imports first, wherever they stand: they say what every other name means. Then all names, before they are called.
    for (const { node, scope } of found) if (IMPORTS.includes(node.type)) this.#import(node, scope);
    for (const { node, scope, isInClass } of found)
      if (BINDINGS.includes(node.type)) this.#assign(node, scope, isInClass);
    for (const { node, scope } of found)
      if (CALLS.includes(node.type)) this.#call(node, scope, source.firstLine + node.startPosition.row);
  }

  /** False where the file is too large to be read to its end. */
  get isWhole(): boolean {
    return this.#isWhole && !this.#read.isSpent;
  }

  #function(node: Node, parent: number): number {
    const id = this.#functions.size + 1;
    const names = this.#read.parameters(getField(node, 'parameters')).map(({ name }) => name);
    const isMethod = ['self', 'cls', 's'].includes(names[0] ?? '');
    this.#functions.set(id, { parent, name: readName(getField(node, 'name')), names, isMethod });
    return id;
  }

  #call(node: Node, scope: number, line: number): void {
    if (node.type === 'call') {
      const expression = this.#read.read(node);
      if (expression.kind === 'call') this.#keep(expression, scope, line);
      return;
    }
    // Decorators are called with what stands below them, so the lowest is called first.
    let value = this.#read.read(undefined);
    for (const decorator of listParts(node).reverse()) {
      if (decorator.type !== 'decorator') continue;
      const callee = this.#read.read(listParts(decorator)[0]);
      const called = { ...value, kind: 'call' as const, callee, args: [{ value }] };
      this.#keep(called, scope, line + decorator.startPosition.row - node.startPosition.row);
      value = called;
    }
  }

  #keep(expression: Call['expression'], scope: number, line: number): void {
    const call: Call = { name: this.findName(expression.callee), expression, scope, line };
    this.calls.push(call);
    const [object, attribute, value] = expression.args;
    const text = attribute && getPlainText(attribute.value);
    if (call.name === 'setattr' && object && value && text !== undefined)
      this.#add({ ...expression, kind: 'attribute', object: object.value, name: text }, value.value, scope);
    const last = call.name.slice(call.name.lastIndexOf('.') + 1);
    const same = this.#callsByName.get(last) ?? [];
    if (same.length < 50) same.push(call);
    this.#callsByName.set(last, same);
  }

  /** The full dotted name of what is called, through aliases, `getattr` with plain texts, and lists, which are `name[]`. */
  findName(callee: Expression, depth = 0): string {
    if (depth > 30) return '';
    const nameIn = (inner: Expression) => this.findName(inner, depth + 1);
    const firstOf = (values: readonly Expression[]) =>
      values
        .slice(0, MAX_VALUES)
        .map(nameIn)
        .find((name) => SECOND_NAMED.test(name)) ?? '';
    switch (callee.kind) {
      case 'name':
        return this.#modules.get(callee.id) ?? callee.id;
      case 'attribute': {
        const object = nameIn(callee.object);
        if (callee.name === '__call__') return object;
        return this.#modules.get(`.${callee.name}`) ?? `${object}.${callee.name}`;
      }
      case 'item':
        return joinName(nameIn(callee.object), getPlainText(callee.key));
      case 'list':
      case 'tuple':
      case 'dict': {
        const name = firstOf(listInner(callee));
        return name && `${name}[]`;
      }
      case 'conditional':
      case 'boolean':
        return firstOf(listInner(callee));
      case 'call': {
        const name = nameIn(callee.callee);
        const [first, second] = callee.args;
        if (!first) return `${name}()`;
        if (/^(?:builtins\.)?getattr$|^object\.__getattribute__$/.test(name) && second)
          return joinName(nameIn(first.value), getPlainText(second.value));
        if (/^(?:(?:builtins|importlib)\.)?__import__$|^importlib\.import_module$/.test(name))
          return getPlainText(first.value) ?? '';
        if (WRAPPERS.test(name)) return nameIn(first.value);
        const object = name.replace(GETTERS, '');
        if (object !== name && (BUILTINS.test(object) || object.endsWith('[]')))
          return joinName(object, getPlainText(first.value));
        return `${name}()`;
      }
      default:
        return '';
    }
  }

  /** Values a name may have where it is used: those of its function, else of one around it, else of the module. */
  listValues(name: string, scope: number): readonly Value[] {
    let at = scope;
    for (let hops = 0; at !== 0 && hops < MAX_CHAIN; hops++) {
      const found = [...(this.#assigned.get(`${at} ${name}`) ?? []), ...this.#givenFor(name, at)];
      if (found.length > 0) return found;
      at = this.#functions.get(at)?.parent ?? 0;
    }
    return this.#assigned.get(`0 ${name}`) ?? [];
  }

  /** What callers in this file give for a parameter. */
  #givenFor(name: string, scope: number): Value[] {
    const owner = this.#functions.get(scope);
    const index = owner?.names.indexOf(name) ?? -1;
    if (!owner || index === -1) return [];
    return (this.#callsByName.get(owner.name) ?? []).flatMap(({ expression, scope: from }) => {
      const shift = owner.isMethod ? 1 : 0;
      const given = expression.args.slice(0, MAX_ARGUMENTS);
      const named = given.find((argument) => argument.name === name);
      const value = (named ?? given.filter((argument) => !argument.name)[index - shift])?.value;
      return value ? [{ value, scope: from }] : [];
    });
  }

  #import(node: Node, scope: number): void {
    if (node.type === 'global_statement')
      for (const name of listParts(node)) this.#globals.add(`${scope} ${readName(name)}`);
    for (const { level, module, names, as } of readImports(node, this.#read.source)) {
      if (as) this.#modules.set(as, module);
      for (const one of names ?? []) this.#modules.set(one.as, `${'.'.repeat(level)}${module}.${one.name}`);
    }
  }

  #assign(node: Node, scope: number, isInClass: boolean): void {
    if (node.type === 'return_statement' || node.type === 'yield') {
      const name = this.#functions.get(scope)?.name;
      const [result] = listParts(node);
      if (name && result) this.#put(`0 ${name}()`, { value: this.#read.read(result), scope });
      return;
    }
    const isAs = node.type === 'with_item';
    const parts = isAs ? listParts(getField(node, 'value') ?? node) : [];
    const target = isAs
      ? parts[1] && listParts(parts[1])[0]
      : (getField(node, 'left') ?? getField(node, 'name'));
    let given = isAs ? parts[0] : (getField(node, 'right') ?? getField(node, 'value'));
    for (let links = 0; given?.type === 'assignment' && links < MAX_CHAIN; links++)
      given = getField(given, 'right');
    if (!target || !given) return;
    const name = this.#read.read(target);
    const value = this.#read.read(given);
    this.#add(name, node.type.startsWith('for_') ? readItem(value) : value, scope);
    if (isInClass && name.kind === 'name')
      this.#add({ ...name, kind: 'attribute', object: name, name: name.id }, value, scope);
  }

  #add(target: Expression, value: Expression, scope: number): void {
    switch (target.kind) {
      case 'name':
        this.#name(target.id, this.#globals.has(`${scope} ${target.id}`) ? 0 : scope, { value, scope });
        return;
      case 'attribute':
        this.#name(`.${target.name}`, 0, { value, scope });
        // What holds `exec` calls it in time, such as `sys.excepthook`.
        if (/^(?:builtins\.)?(?:exec|eval)$/.test(this.findName(value)))
          this.#keep({ ...target, kind: 'call', callee: target, args: [{ value }] }, scope, findLine(target));
        return;
      case 'item': {
        const isNames = /^(?:globals|locals|vars)\(\)$/.test(this.findName(target.object));
        const name = getPlainText(target.key);
        if (isNames && name !== undefined) this.#name(name, 0, { value, scope });
        else if (target.object.kind === 'name')
          this.#name(`${target.object.id}[]`, scope, {
            value: { ...value, kind: 'list', items: [value] },
            scope,
          });
        return;
      }
      case 'list':
      case 'tuple': {
        const isTuple = value.kind === 'list' || value.kind === 'tuple';
        const items = isTuple && value.items.length === target.items.length ? value.items : undefined;
        for (const [index, one] of target.items.entries())
          this.#add(one, items?.[index] ?? readItem(value), scope);
        return;
      }
      case 'spread':
        this.#add(target.value, value, scope);
    }
  }

  #name(place: string, owner: number, value: Value): void {
    this.#put(`${owner} ${place}`, value);
    const id = place.replace('[]', '');
    // `run = exec`, `net = __import__('requests')`
    const meant = this.findName(value.value);
    if (SECOND_NAMED.test(meant) && !this.#modules.has(id)) this.#modules.set(id, meant);
  }

  #put(key: string, value: Value): void {
    const values = this.#assigned.get(key) ?? [];
    if (values.length < MAX_VALUES) values.push(value);
    this.#assigned.set(key, values);
  }
}

const BUILTINS = /(?:^|\.)(?:__builtins__|builtins)(?:\.__dict__)?$/;

/** A builtin whose name is computed may be `exec`, and any item of a list may be the one that is called. */
function joinName(object: string, attribute: string | undefined): string {
  if (object.endsWith('[]')) return object.slice(0, -2);
  if (attribute !== undefined) return `${object}.${attribute}`;
  return BUILTINS.test(object) ? 'builtins.exec' : '';
}
