import type { Node } from 'web-tree-sitter';
import { parseNumber, unescapeText } from './strings.js';
import type { Argument, Clause, Expression, Parameter, Place, Source } from './syntax.js';

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

const CONSTANTS: Readonly<Record<string, boolean | null>> = { true: true, false: false, none: null };

const SEQUENCES: Readonly<Record<string, 'list' | 'tuple' | 'set'>> = {
  ...{ list: 'list', list_pattern: 'list', set: 'set', tuple: 'tuple' },
  ...{ expression_list: 'tuple', pattern_list: 'tuple', tuple_pattern: 'tuple' },
};

const SPREADS: Readonly<Record<string, '*' | '**'>> = {
  ...{ list_splat: '*', dictionary_splat: '**' },
  ...{ list_splat_pattern: '*', dictionary_splat_pattern: '**' },
};

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
    const place = this.#place(node);
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

  readField(node: Node, name: string): Expression {
    return this.read(getField(node, name));
  }

  /** Reads the first part of a node, which is often all that it has. */
  readFirst(node: Node): Expression {
    return this.read(listParts(node)[0]);
  }

  #place(node: Node, from = node): Place {
    return { source: this.source, start: from.startIndex, end: node.endIndex };
  }

  #all(nodes: Node[]): Expression[] {
    return nodes.map((node) => this.read(node));
  }

  #shape(node: Node): object {
    // Read once: each look at it goes through the parser.
    const { type } = node;
    const constant = CONSTANTS[type];
    if (constant !== undefined) return { kind: 'constant', value: constant };
    const sequence = SEQUENCES[type];
    if (sequence) return { kind: sequence, items: this.#all(listParts(node)) };
    switch (type) {
      case 'identifier':
        return { kind: 'name', id: readName(node) };
      case 'integer':
      case 'float': {
        const value = parseNumber(node.text);
        return value === undefined ? { kind: 'other' } : { kind: 'constant', value };
      }
      case 'string':
        return this.#string(node);
      case 'concatenated_string':
        return this.#joined(node);
      case 'attribute': {
        const name = readName(getField(node, 'attribute'));
        return { kind: 'attribute', object: this.readField(node, 'object'), name };
      }
      case 'subscript':
        return this.#subscript(node);
      case 'call': {
        const callee = this.readField(node, 'function');
        return { kind: 'call', callee, args: this.args(getField(node, 'arguments')) };
      }
      case 'list_splat':
      case 'list_splat_pattern':
        return { kind: 'spread', value: this.readFirst(node) };
      case 'dictionary':
        return {
          kind: 'dict',
          entries: listParts(node).map((entry) =>
            entry.type === 'pair' ? this.#pair(entry) : { value: this.readFirst(entry) },
          ),
        };
      case 'parenthesized_expression':
      case 'await':
      case 'type':
        return this.readFirst(node);
      case 'named_expression':
        return { kind: 'named', target: this.readField(node, 'name'), value: this.readField(node, 'value') };
      case 'yield':
        return {
          kind: 'yield',
          value: this.readFirst(node),
          isMany: node.children.some((c) => c?.type === 'from'),
        };
      case 'binary_operator':
        return { kind: 'binary', ...this.#operands(node) };
      case 'boolean_operator':
        return { kind: 'boolean', ...this.#operands(node) };
      case 'comparison_operator':
        return this.#comparison(node);
      case 'not_operator':
        return { kind: 'unary', operator: 'not', operand: this.readField(node, 'argument') };
      case 'unary_operator': {
        const operator = getField(node, 'operator')?.text ?? '';
        return { kind: 'unary', operator, operand: this.readField(node, 'argument') };
      }
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
      case 'lambda': {
        const parameters = this.parameters(getField(node, 'parameters'));
        return { kind: 'lambda', parameters, body: this.readField(node, 'body') };
      }
      default:
        return { kind: 'other' };
    }
  }

  #pair(node: Node): { readonly key: Expression; readonly value: Expression } {
    return { key: this.readField(node, 'key'), value: this.readField(node, 'value') };
  }

  #operands(node: Node): object {
    const operator = getField(node, 'operator')?.text ?? '';
    return { operator, left: this.readField(node, 'left'), right: this.readField(node, 'right') };
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
    const object = this.readField(node, 'value');
    const keys = node.childrenForFieldName('subscript').filter((key) => key !== null);
    const [key] = keys;
    if (!key) return { kind: 'other' };
    if (keys.length > 1)
      return {
        kind: 'item',
        object,
        key: { kind: 'tuple', items: this.#all(keys), ...this.#place(node, key) },
      };
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
      const { type } = child;
      if (type === 'keyword_argument')
        return { name: readName(getField(child, 'name')), value: this.readField(child, 'value') };
      const spread = SPREADS[type];
      return spread ? { spread, value: this.readFirst(child) } : { value: this.read(child) };
    });
  }

  parameters(node: Node | undefined): Parameter[] {
    if (!node) return [];
    return listParts(node).flatMap((child): Parameter[] => {
      const { type } = child;
      const spread = SPREADS[type];
      if (spread) return [{ name: readName(listParts(child)[0]), spread }];
      switch (type) {
        case 'identifier':
          return [{ name: readName(child) }];
        case 'default_parameter':
        case 'typed_default_parameter':
          return [{ name: readName(getField(child, 'name')), fallback: this.readField(child, 'value') }];
        case 'typed_parameter':
          return this.parameters(child).slice(0, 1);
        default:
          return [];
      }
    });
  }

  #comprehension(node: Node): object {
    const clauses: Clause[] = [];
    for (const child of listParts(node)) {
      if (child.type === 'for_in_clause') {
        const [target, iterable] = [this.readField(child, 'left'), this.readField(child, 'right')];
        clauses.push({ target, iterable, conditions: [] });
      } else if (child.type === 'if_clause') clauses.at(-1)?.conditions.push(this.readFirst(child));
    }
    const body = getField(node, 'body');
    if (body?.type === 'pair') return { kind: 'comprehension', of: 'dict', ...this.#pair(body), clauses };
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
        pieces.push(plain ? this.readField(child, 'expression') : { kind: 'other', ...this.#place(child) });
      }
    }
    return prefix.includes('b') ? { kind: 'other' } : toText(pieces);
  }

  #joined(node: Node): object {
    const pieces: (string | Expression)[] = [];
    for (const child of this.#all(listParts(node))) {
      if (child.kind === 'constant' && typeof child.value === 'string') pieces.push(child.value);
      else if (child.kind === 'format') pieces.push(...child.parts);
      else return { kind: 'other' };
    }
    return toText(pieces);
  }
}

function toText(parts: (string | Expression)[]): object {
  const isPlain = parts.every((part) => typeof part === 'string');
  return isPlain ? { kind: 'constant', value: parts.join('') } : { kind: 'format', parts };
}
