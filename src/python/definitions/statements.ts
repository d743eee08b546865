import type { Node } from 'web-tree-sitter';
import { Expressions, getField, listParts } from './expressions.js';
import type { ClassSyntax, Expression, FunctionSyntax, ImportSyntax, Source, Statement } from './syntax.js';

const MAX_DEPTH = 60;

/** The statements of a file as plain data. */
export function readModule(root: Node, source: Source): Statement[] {
  return new Statements(source).block(root);
}

/** Parameters and body of one function, out of a tree of its text alone. */
export function readFunction(root: Node, source: Source): Statement[] {
  const [first] = listParts(root);
  return new Statements(source).block(first && getField(first, 'body'));
}

class Statements {
  readonly #expressions: Expressions;
  #depth = 0;

  constructor(readonly source: Source) {
    this.#expressions = new Expressions(source);
  }

  block(node: Node | undefined): Statement[] {
    if (!node || this.#depth > MAX_DEPTH) return [];
    this.#depth++;
    const statements = listParts(node).flatMap((child) => this.#read(child, []));
    this.#depth--;
    return statements;
  }

  #value(node: Node | undefined): Expression {
    return this.#expressions.read(node);
  }

  #read(node: Node, decorators: Expression[]): Statement[] {
    switch (node.type) {
      case 'expression_statement':
        return listParts(node).flatMap((child) => this.#expression(child));
      case 'import_statement':
        return this.#import(node);
      case 'import_from_statement':
        return [this.#importFrom(node)];
      case 'decorated_definition': {
        const definition = getField(node, 'definition');
        const all = listParts(node)
          .filter((child) => child.type === 'decorator')
          .map((child) => this.#value(listParts(child)[0]));
        return definition ? this.#read(definition, all) : [];
      }
      case 'class_definition':
        return [this.#class(node, decorators)];
      case 'function_definition':
        return [this.#function(node, decorators)];
      case 'if_statement':
        return this.#if(node);
      case 'for_statement':
        return [
          {
            kind: 'for',
            target: this.#value(getField(node, 'left')),
            iterable: this.#value(getField(node, 'right')),
            body: this.block(getField(node, 'body')),
          },
          ...this.#else(node),
        ];
      case 'while_statement':
        return [
          {
            kind: 'while',
            test: this.#value(getField(node, 'condition')),
            body: this.block(getField(node, 'body')),
          },
        ];
      case 'try_statement':
        return this.#try(node);
      case 'with_statement':
        return [this.#with(node)];
      case 'match_statement':
        return listParts(getField(node, 'body') ?? node)
          .filter((child) => child.type === 'case_clause')
          .map((child) => ({
            kind: 'if',
            body: this.block(getField(child, 'consequence')),
            otherwise: [],
          }));
      case 'return_statement': {
        const [value] = listParts(node);
        return [{ kind: 'return', ...(value && { value: this.#value(value) }) }];
      }
      case 'delete_statement': {
        const target = this.#value(listParts(node)[0]);
        return [{ kind: 'delete', targets: target.kind === 'tuple' ? target.items : [target] }];
      }
      case 'global_statement':
      case 'nonlocal_statement':
        return [
          {
            kind: node.type === 'global_statement' ? 'global' : 'nonlocal',
            names: listParts(node).map((child) => child.text),
          },
        ];
      case 'raise_statement':
        return [{ kind: 'raise' }];
      case 'break_statement':
        return [{ kind: 'break' }];
      case 'continue_statement':
        return [{ kind: 'continue' }];
      default:
        return [];
    }
  }

  #expression(node: Node): Statement[] {
    if (node.type === 'assignment') {
      const targets: Expression[] = [];
      let value: Node | undefined = node;
      while (value?.type === 'assignment') {
        targets.push(this.#value(getField(value, 'left')));
        value = getField(value, 'right');
      }
      // `name: type` alone declares and assigns nothing.
      return value ? [{ kind: 'assign', targets, value: this.#value(value) }] : [];
    }
    if (node.type === 'augmented_assignment') {
      const operator = getField(node, 'operator')?.text.slice(0, -1) ?? '';
      const targets = [this.#value(getField(node, 'left'))];
      return [{ kind: 'assign', targets, value: this.#value(getField(node, 'right')), operator }];
    }
    return [{ kind: 'expression', value: this.#value(node) }];
  }

  #import(node: Node): ImportSyntax[] {
    const line = this.#line(node);
    return listParts(node).map((child) => {
      const module = (child.type === 'aliased_import' ? getField(child, 'name') : child)?.text ?? '';
      const as = child.type === 'aliased_import' ? getField(child, 'alias')?.text : undefined;
      return { kind: 'import', level: 0, module, line, ...(as && { as }) };
    });
  }

  #importFrom(node: Node): ImportSyntax {
    const from = getField(node, 'module_name');
    const text = from?.text ?? '';
    const level = /^[.\s]*/.exec(text)?.[0].replace(/\s/g, '').length ?? 0;
    const names = node.childrenForFieldName('name').map((child) => {
      const name = (child?.type === 'aliased_import' ? getField(child, 'name')?.text : child?.text) ?? '';
      const as = (child?.type === 'aliased_import' ? getField(child, 'alias')?.text : undefined) ?? name;
      return { name, as };
    });
    if (listParts(node).some((child) => child.type === 'wildcard_import')) names.push({ name: '*', as: '*' });
    return { kind: 'import', level, module: text.replace(/^[.\s]*/, ''), names, line: this.#line(node) };
  }

  #line(node: Node): number {
    return this.source.firstLine + node.startPosition.row;
  }

  #class(node: Node, decorators: Expression[]): ClassSyntax {
    return {
      kind: 'class',
      name: getField(node, 'name')?.text ?? '',
      bases: this.#expressions.args(getField(node, 'superclasses')),
      decorators,
      body: this.block(getField(node, 'body')),
      line: this.#line(node),
    };
  }

  #function(node: Node, decorators: Expression[]): FunctionSyntax {
    return {
      kind: 'function',
      name: getField(node, 'name')?.text ?? '',
      parameters: this.#expressions.parameters(getField(node, 'parameters')),
      decorators,
      source: { path: this.source.path, text: node.text, firstLine: this.#line(node) },
    };
  }

  #else(node: Node): Statement[] {
    return node
      .childrenForFieldName('alternative')
      .flatMap((child) => this.block((child && getField(child, 'body')) ?? undefined));
  }

  #if(node: Node): Statement[] {
    const alternatives = node.childrenForFieldName('alternative').filter((child) => child !== null);
    let otherwise: Statement[] = [];
    for (const branch of alternatives.reverse()) {
      if (branch.type === 'else_clause') otherwise = this.block(getField(branch, 'body'));
      else otherwise = [this.#branch(branch, otherwise)];
    }
    return [this.#branch(node, otherwise)];
  }

  #branch(node: Node, otherwise: Statement[]): Statement {
    return {
      kind: 'if',
      test: this.#value(getField(node, 'condition')),
      body: this.block(getField(node, 'consequence')),
      otherwise,
    };
  }

  #try(node: Node): Statement[] {
    const clauses = listParts(node);
    const blocks = (types: string[]) =>
      clauses
        .filter((child) => types.includes(child.type))
        .map((child) => this.block(listParts(child).findLast((part) => part.type === 'block')));
    return [
      {
        kind: 'try',
        body: [...this.block(getField(node, 'body')), ...blocks(['else_clause']).flat()],
        handlers: blocks(['except_clause', 'except_group_clause']),
      },
      ...blocks(['finally_clause']).flat(),
    ];
  }

  #with(node: Node): Statement {
    const items = listParts(listParts(node).find((child) => child.type === 'with_clause') ?? node)
      .filter((child) => child.type === 'with_item')
      .map((item) => {
        const value = getField(item, 'value');
        if (value?.type !== 'as_pattern') return { value: this.#value(value) };
        const [inner, target] = listParts(value);
        const as = target && listParts(target)[0];
        return { value: this.#value(inner), ...(as && { as: this.#value(as) }) };
      });
    return { kind: 'with', items, body: this.block(getField(node, 'body')) };
  }
}
