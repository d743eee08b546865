import type { Node } from 'web-tree-sitter';
import { parseNumber, unescapeText } from './strings.js';
import type { Argument, Clause, Expression, Parameter, Source } from './syntax.js';

/** Deeper nesting becomes an unknown instead of a deep recursion; definitions do not nest so deep. */
const MAX_DEPTH = 150;

/** Named children without the comments that may stand anywhere. */
export function listParts(node: Node): Node[] {
  return node.namedChildren.filter((child): child is Node => child !== null && child.type !== 'comment');
}

export function getField(node: Node, name: string): Node | undefined {
  return node.childForFieldName(name) ?? undefined;
}

/** A name as Python reads it, to which `𝐞𝐱𝐞𝐜` is `exec`. */
export function readName(node: Node | undefined): string {
  return node?.text.normalize('NFKC') ?? '';
}

export class Expressions {
  #depth = 0;
  /** @param budget how many nodes are read; what comes after is unknown */
  constructor(
    readonly source: Source,
    private budget = Number.POSITIVE_INFINITY,
  ) {}

  /** Whether nodes were left out for the budget. */
  get isSpent(): boolean {
    return this.budget < 0;
  }

  read(node: Node | undefined): Expression {
    if (!node) return { kind: 'other', source: this.source, start: 0, end: 0 };
    const place = { source: this.source, start: node.startIndex, end: node.endIndex };
    if (this.#depth > MAX_DEPTH || --this.budget < 0) return { kind: 'other', ...place };
    this.#depth++;
    try {
      const shape = this.#shape(node);
      // One object literal per node would copy every shape twice; these are ours alone until returned.
      return Object.assign(shape, place) as Expression;
    } finally {
      this.#depth--;
    }
  }

  #all(nodes: Node[]): Expression[] {
    return nodes.map((node) => this.read(node));
  }

  #shape(node: Node): object {
    switch (node.type) {
      case 'identifier':
        return { kind: 'name', id: readName(node) };
      case 'integer':
      case 'float': {
        const value = parseNumber(node.text);
        return value === undefined ? { kind: 'other' } : { kind: 'constant', value };
      }
      case 'true':
        return { kind: 'constant', value: true };
      case 'false':
        return { kind: 'constant', value: false };
      case 'none':
        return { kind: 'constant', value: null };
      case 'string':
        return this.#string(node);
      case 'concatenated_string':
        return this.#joined(node);
      case 'attribute':
        return {
          kind: 'attribute',
          object: this.read(getField(node, 'object')),
          name: readName(getField(node, 'attribute')),
        };
      case 'subscript':
        return this.#subscript(node);
      case 'call':
        return {
          kind: 'call',
          callee: this.read(getField(node, 'function')),
          args: this.args(getField(node, 'arguments')),
        };
      case 'list':
      case 'set':
      case 'tuple':
        return { kind: node.type, items: this.#all(listParts(node)) };
      case 'expression_list':
      case 'pattern_list':
      case 'tuple_pattern':
        return { kind: 'tuple', items: this.#all(listParts(node)) };
      case 'list_pattern':
        return { kind: 'list', items: this.#all(listParts(node)) };
      case 'list_splat':
      case 'list_splat_pattern':
        return { kind: 'spread', value: this.read(listParts(node)[0]) };
      case 'dictionary':
        return {
          kind: 'dict',
          entries: listParts(node).map((entry) =>
            entry.type === 'pair'
              ? { key: this.read(getField(entry, 'key')), value: this.read(getField(entry, 'value')) }
              : { value: this.read(listParts(entry)[0]) },
          ),
        };
      case 'parenthesized_expression':
      case 'await':
      case 'type':
        return this.read(listParts(node)[0]);
      case 'named_expression':
        return this.read(getField(node, 'value'));
      case 'binary_operator':
        return this.#two('binary', node);
      case 'boolean_operator':
        return this.#two('boolean', node);
      case 'comparison_operator':
        return this.#comparison(node);
      case 'not_operator':
        return { kind: 'unary', operator: 'not', operand: this.read(getField(node, 'argument')) };
      case 'unary_operator':
        return {
          kind: 'unary',
          operator: getField(node, 'operator')?.text ?? '',
          operand: this.read(getField(node, 'argument')),
        };
      case 'conditional_expression': {
        const [value, test, otherwise] = this.#all(listParts(node));
        return value && test && otherwise
          ? { kind: 'conditional', value, test, otherwise }
          : { kind: 'other' };
      }
      case 'list_comprehension':
      case 'generator_expression':
      case 'set_comprehension':
      case 'dictionary_comprehension':
        return this.#comprehension(node);
      case 'lambda':
        return {
          kind: 'lambda',
          parameters: this.parameters(getField(node, 'parameters')),
          body: this.read(getField(node, 'body')),
        };
      default:
        return { kind: 'other' };
    }
  }

  #two(kind: 'binary' | 'boolean', node: Node): object {
    return {
      kind,
      operator: getField(node, 'operator')?.text ?? '',
      left: this.read(getField(node, 'left')),
      right: this.read(getField(node, 'right')),
    };
  }

  #comparison(node: Node): object {
    const [left, right, ...chained] = listParts(node);
    if (!left || !right || chained.length > 0) return { kind: 'other' };
    const operator = node.children
      .filter((child) => child && !child.isNamed)
      .map((child) => child?.text)
      .join(' ');
    return { kind: 'compare', operator, left: this.read(left), right: this.read(right) };
  }

  #subscript(node: Node): object {
    const object = this.read(getField(node, 'value'));
    const keys = node.childrenForFieldName('subscript').filter((key) => key !== null);
    const [key] = keys;
    if (!key) return { kind: 'other' };
    if (keys.length > 1) {
      const place = { source: this.source, start: key.startIndex, end: node.endIndex };
      return { kind: 'item', object, key: { kind: 'tuple', items: this.#all(keys), ...place } };
    }
    if (key.type !== 'slice') return { kind: 'item', object, key: this.read(key) };
    const bounds: { from?: Expression; to?: Expression } = {};
    let colons = 0;
    for (const child of key.children) {
      if (!child) continue;
      if (child.type === ':') colons++;
      else if (colons === 0) bounds.from = this.read(child);
      else if (colons === 1) bounds.to = this.read(child);
      // With a step: which items that are is not imitated.
      else return { kind: 'item', object, key: this.read(key) };
    }
    return { kind: 'slice', object, ...bounds };
  }

  args(node: Node | undefined): Argument[] {
    if (!node) return [];
    // f(x for x in y) has the generator in place of the list of arguments.
    if (node.type === 'generator_expression') return [{ value: this.read(node) }];
    return listParts(node).map((child): Argument => {
      if (child.type === 'keyword_argument')
        return { name: readName(getField(child, 'name')), value: this.read(getField(child, 'value')) };
      if (child.type === 'list_splat') return { spread: '*', value: this.read(listParts(child)[0]) };
      if (child.type === 'dictionary_splat') return { spread: '**', value: this.read(listParts(child)[0]) };
      return { value: this.read(child) };
    });
  }

  parameters(node: Node | undefined): Parameter[] {
    if (!node) return [];
    return listParts(node).flatMap((child): Parameter[] => {
      switch (child.type) {
        case 'identifier':
          return [{ name: readName(child) }];
        case 'default_parameter':
        case 'typed_default_parameter':
          return [{ name: readName(getField(child, 'name')), fallback: this.read(getField(child, 'value')) }];
        case 'typed_parameter':
          return this.parameters(child).slice(0, 1);
        case 'list_splat_pattern':
          return [{ name: readName(listParts(child)[0]), spread: '*' }];
        case 'dictionary_splat_pattern':
          return [{ name: readName(listParts(child)[0]), spread: '**' }];
        default:
          return [];
      }
    });
  }

  #comprehension(node: Node): object {
    const clauses: Clause[] = [];
    for (const child of listParts(node)) {
      if (child.type === 'for_in_clause')
        clauses.push({
          target: this.read(getField(child, 'left')),
          iterable: this.read(getField(child, 'right')),
          conditions: [],
        });
      else if (child.type === 'if_clause') clauses.at(-1)?.conditions.push(this.read(listParts(child)[0]));
    }
    const body = getField(node, 'body');
    if (body?.type === 'pair')
      return {
        kind: 'comprehension',
        of: 'dict',
        key: this.read(getField(body, 'key')),
        value: this.read(getField(body, 'value')),
        clauses,
      };
    const of = node.type === 'set_comprehension' ? 'set' : 'list';
    return { kind: 'comprehension', of, value: this.read(body), clauses };
  }

  #string(node: Node): object {
    const pieces: (string | Expression)[] = [];
    let prefix = '';
    for (const child of node.children) {
      if (child?.type === 'string_start') prefix = child.text.replace(/["']+$/, '').toLowerCase();
      else if (child?.type === 'string_content') {
        const text = prefix.includes('r') ? child.text : unescapeText(child.text);
        pieces.push(prefix.includes('f') ? text.replaceAll('{{', '{').replaceAll('}}', '}') : text);
      } else if (child?.type === 'interpolation') {
        // A conversion or format changes the text in ways we do not imitate.
        const plain = !getField(child, 'type_conversion') && !getField(child, 'format_specifier');
        const place = { source: this.source, start: child.startIndex, end: child.endIndex };
        pieces.push(plain ? this.read(getField(child, 'expression')) : { kind: 'other', ...place });
      }
    }
    if (prefix.includes('b')) return { kind: 'other' };
    if (pieces.every((piece) => typeof piece === 'string'))
      return { kind: 'constant', value: pieces.join('') };
    return { kind: 'format', parts: pieces };
  }

  #joined(node: Node): object {
    const pieces: (string | Expression)[] = [];
    for (const child of this.#all(listParts(node))) {
      if (child.kind === 'constant' && typeof child.value === 'string') pieces.push(child.value);
      else if (child.kind === 'format') pieces.push(...child.parts);
      else return { kind: 'other' };
    }
    if (pieces.every((piece) => typeof piece === 'string'))
      return { kind: 'constant', value: pieces.join('') };
    return { kind: 'format', parts: pieces };
  }
}
