import type { Node } from 'web-tree-sitter';
import { Expressions, getField, listParts, readName } from '../definitions/expressions.js';
import type { Expression, Source } from '../definitions/syntax.js';

/** A call, and the function it stands in: 0 for the module itself. */
export interface Call {
  readonly name: string;
  readonly expression: Expression & { readonly kind: 'call' };
  readonly scope: number;
  readonly line: number;
}

interface Parameters {
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
  /^(?:exec|eval|compile|getattr|__import__|__builtins__|builtins|requests|httpx|urllib|subprocess|os|importlib|base64|pickle|marshal|codecs|zlib)(?:\.\w+)*$/;

const FUNCTIONS = ['function_definition', 'lambda'];
const BINDINGS = ['assignment', 'with_item', 'for_statement'];
const CALLS = ['call', 'decorated_definition'];
const IMPORTS = ['import_statement', 'import_from_statement'];

/** What a file says, as far as the rules ask: who is called with what, and which names stand for which values. */
export class Facts {
  readonly calls: Call[] = [];
  readonly #assigned = new Map<string, Expression[]>();
  readonly #modules = new Map<string, string>();
  readonly #functions = new Map<number, Parameters>();
  readonly #callsByName = new Map<string, Call[]>();
  readonly #read: Expressions;
  #isWhole = true;

  constructor(root: Node, source: Source) {
    this.#read = new Expressions(source, MAX_READ);
    // Asking each node for its parents would be quadratic; nodes come in the order of the text, so a stack suffices.
    const within: { id: number; end: number }[] = [];
    const found: { node: Node; scope: number }[] = [];
    for (const node of root.descendantsOfType([...FUNCTIONS, ...BINDINGS, ...IMPORTS, ...CALLS])) {
      if (!node || found.length >= MAX_NODES) {
        this.#isWhole = false;
        break;
      }
      while ((within.at(-1)?.end ?? Number.POSITIVE_INFINITY) <= node.startIndex) within.pop();
      found.push({ node, scope: within.at(-1)?.id ?? 0 });
      if (FUNCTIONS.includes(node.type)) within.push({ id: this.#function(node), end: node.endIndex });
    }
    // Imports first, wherever they stand: they say what every other name means.
    for (const { node } of found) if (IMPORTS.includes(node.type)) this.#import(node);
    for (const { node, scope } of found) {
      if (BINDINGS.includes(node.type)) this.#assign(node, scope);
      else if (CALLS.includes(node.type)) this.#call(node, scope, source.firstLine + node.startPosition.row);
    }
  }

  /** False where the file is too large to be read to its end. */
  get isWhole(): boolean {
    return this.#isWhole && !this.#read.isSpent;
  }

  #function(node: Node): number {
    const id = this.#functions.size + 1;
    const names = this.#read.parameters(getField(node, 'parameters')).map(({ name }) => name);
    const isMethod = ['self', 'cls', 's'].includes(names[0] ?? '');
    this.#functions.set(id, { name: readName(getField(node, 'name')), names, isMethod });
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
    const call: Call = { name: this.nameOf(expression.callee), expression, scope, line };
    this.calls.push(call);
    const last = call.name.slice(call.name.lastIndexOf('.') + 1);
    const same = this.#callsByName.get(last) ?? [];
    if (same.length < 50) same.push(call);
    this.#callsByName.set(last, same);
  }

  /** The full dotted name of what is called, through import aliases and `getattr` with plain texts. */
  nameOf(callee: Expression, depth = 0): string {
    if (depth > 30) return '';
    switch (callee.kind) {
      case 'name':
        return this.#modules.get(callee.id) ?? callee.id;
      case 'attribute':
        return `${this.nameOf(callee.object, depth + 1)}.${callee.name}`;
      case 'item': {
        return joinName(this.nameOf(callee.object, depth + 1), getPlainText(callee.key));
      }
      case 'call': {
        const name = this.nameOf(callee.callee, depth + 1);
        const [first, second] = callee.args;
        if (/^(?:builtins\.)?getattr$/.test(name) && first && second) {
          return joinName(this.nameOf(first.value, depth + 1), getPlainText(second.value));
        }
        if ((name === '__import__' || name === 'importlib.import_module') && first)
          return getPlainText(first.value) ?? '';
        return `${name}()`;
      }
      default:
        return '';
    }
  }

  /** Values a name may have where it is used: those of its function, else of the module. */
  valuesOf(name: string, scope: number): readonly Expression[] {
    return this.#assigned.get(`${scope} ${name}`) ?? this.#assigned.get(`0 ${name}`) ?? [];
  }

  /** What callers in this file give for a parameter. */
  givenFor(name: string, scope: number): { readonly value: Expression; readonly scope: number }[] {
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

  #import(node: Node): void {
    const module = getField(node, 'module_name');
    const from = module && readName(module);
    for (const child of node.childrenForFieldName('name')) {
      if (!child) continue;
      const isAliased = child.type === 'aliased_import';
      const name = readName(isAliased ? getField(child, 'name') : child);
      const alias = isAliased ? readName(getField(child, 'alias')) : undefined;
      if (from !== undefined) this.#modules.set(alias ?? name, `${from}.${name}`);
      else if (alias) this.#modules.set(alias, name);
    }
  }

  #assign(node: Node, scope: number): void {
    if (node.type === 'with_item') {
      const value = getField(node, 'value');
      if (value?.type !== 'as_pattern') return;
      const [inner, target] = listParts(value);
      if (inner && target) this.#add(target, inner, scope);
      return;
    }
    const [left, right] = [getField(node, 'left'), getField(node, 'right')];
    if (left && right) this.#add(left, right, scope);
  }

  #add(target: Node, value: Node, scope: number): void {
    const names =
      target.type === 'identifier'
        ? [target]
        : target.type === 'as_pattern_target' || target.type.endsWith('list')
          ? listParts(target)
          : [];
    for (const name of names) {
      if (name.type !== 'identifier') continue;
      const id = readName(name);
      const key = `${scope} ${id}`;
      const values = this.#assigned.get(key) ?? [];
      const read = this.#read.read(value);
      if (values.length < 20) values.push(read);
      this.#assigned.set(key, values);
      // `run = exec`, `net = __import__('requests')`
      const meant = this.nameOf(read);
      if (SECOND_NAMED.test(meant) && !this.#modules.has(id)) this.#modules.set(id, meant);
    }
  }
}

/** A builtin whose name is computed may be `exec`. */
function joinName(object: string, attribute: string | undefined): string {
  if (attribute !== undefined) return `${object}.${attribute}`;
  return /(?:^|\.)(?:__builtins__|builtins)(?:\.__dict__)?$/.test(object) ? 'builtins.exec' : '';
}

/** A text that is plain, or put together from plain pieces: `'ex' + 'ec'`. */
export function getPlainText(expression: Expression, depth = 0): string | undefined {
  if (depth > 30) return undefined;
  if (expression.kind === 'constant')
    return typeof expression.value === 'string' ? expression.value : undefined;
  if (expression.kind === 'binary' && expression.operator === '+') {
    const [left, right] = [
      getPlainText(expression.left, depth + 1),
      getPlainText(expression.right, depth + 1),
    ];
    return left === undefined || right === undefined ? undefined : left + right;
  }
  return undefined;
}
