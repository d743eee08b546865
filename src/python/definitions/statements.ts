import type { Node } from 'web-tree-sitter';
import { Expressions, getField, listParts, readName } from './expressions.js';
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

export function readImports(node: Node, source: Source): ImportSyntax[] {
  const at = { source, start: node.startIndex, end: node.endIndex };
  const named = node.childrenForFieldName('name').flatMap((child) => {
    if (!child) return [];
    const isAliased = child.type === 'aliased_import';
    const as = isAliased ? readName(getField(child, 'alias')) : undefined;
    return [{ name: readName(isAliased ? getField(child, 'name') : child), as }];
  });
  const from = getField(node, 'module_name');
  if (!from)
    return named.map(({ name, as }) => ({ kind: 'import', level: 0, module: name, at, ...(as && { as }) }));
  const text = readName(from);
  const [dots = ''] = /^[.\s]*/.exec(text) ?? [];
  const names = named.map(({ name, as = name }) => ({ name, as }));
  if (listParts(node).some((child) => child.type === 'wildcard_import')) names.push({ name: '*', as: '*' });
  const level = dots.replace(/\s/g, '').length;
  return [{ kind: 'import', level, module: text.slice(dots.length), names, at }];
}

function findNodeLine(node: Node, source: Source): number {
  return source.firstLine + node.startPosition.row;
}

class Statements extends Expressions {
  #depth = 0;

  block(node: Node | undefined): Statement[] {
    if (!node || this.#depth > MAX_DEPTH) return [];
    this.#depth++;
    const statements = listParts(node).flatMap((child) => this.#statement(child, []));
    this.#depth--;
    return statements;
  }

  #body(node: Node, name = 'body'): Statement[] {
    return this.block(getField(node, name));
  }

  #statement(node: Node, decorators: Expression[]): Statement[] {
    switch (node.type) {
      case 'expression_statement':
        return listParts(node).flatMap((child) => this.#expression(child));
      case 'import_statement':
      case 'import_from_statement':
        return readImports(node, this.source);
      case 'decorated_definition': {
        const definition = getField(node, 'definition');
        const all = listParts(node)
          .filter((child) => child.type === 'decorator')
          .map((child) => this.readFirst(child));
        return definition ? this.#statement(definition, all) : [];
      }
      case 'class_definition':
        return [this.#class(node, decorators)];
      case 'function_definition':
        return [this.#function(node, decorators)];
      case 'if_statement':
        return this.#if(node);
      case 'for_statement': {
        const [target, iterable] = [this.readField(node, 'left'), this.readField(node, 'right')];
        return [{ kind: 'for', target, iterable, body: this.#body(node) }, ...this.#else(node)];
      }
      case 'while_statement':
        return [{ kind: 'while', test: this.readField(node, 'condition'), body: this.#body(node) }];
      case 'try_statement':
        return this.#try(node);
      case 'with_statement':
        return [this.#with(node)];
      case 'match_statement':
        return listParts(getField(node, 'body') ?? node)
          .filter((child) => child.type === 'case_clause')
          .map((child) => ({ kind: 'if', body: this.#body(child, 'consequence'), otherwise: [] }));
      case 'return_statement': {
        const [value] = listParts(node);
        return [{ kind: 'return', ...(value && { value: this.read(value) }) }];
      }
      case 'delete_statement': {
        const target = this.readFirst(node);
        return [{ kind: 'delete', targets: target.kind === 'tuple' ? target.items : [target] }];
      }
      case 'global_statement':
      case 'nonlocal_statement': {
        const kind = node.type === 'global_statement' ? 'global' : 'nonlocal';
        return [{ kind, names: listParts(node).map(readName) }];
      }
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
        targets.push(this.readField(value, 'left'));
        value = getField(value, 'right');
      }
      // `name: type` alone declares and assigns nothing.
      return value ? [{ kind: 'assign', targets, value: this.read(value) }] : [];
    }
    if (node.type === 'augmented_assignment') {
      const operator = getField(node, 'operator')?.text.slice(0, -1) ?? '';
      const targets = [this.readField(node, 'left')];
      return [{ kind: 'assign', targets, value: this.readField(node, 'right'), operator }];
    }
    return [{ kind: 'expression', value: this.read(node) }];
  }

  #class(node: Node, decorators: Expression[]): ClassSyntax {
    return {
      kind: 'class',
      name: readName(getField(node, 'name')),
      bases: this.args(getField(node, 'superclasses')),
      decorators,
      body: this.#body(node),
      line: findNodeLine(node, this.source),
    };
  }

  #function(node: Node, decorators: Expression[]): FunctionSyntax {
    return {
      kind: 'function',
      name: readName(getField(node, 'name')),
      parameters: this.parameters(getField(node, 'parameters')),
      decorators,
      source: { path: this.source.path, text: node.text, firstLine: findNodeLine(node, this.source) },
    };
  }

  #else(node: Node): Statement[] {
    return node.childrenForFieldName('alternative').flatMap((child) => (child ? this.#body(child) : []));
  }

  #if(node: Node): Statement[] {
    const alternatives = node.childrenForFieldName('alternative').filter((child) => child !== null);
    let otherwise: Statement[] = [];
    for (const branch of alternatives.reverse()) {
      if (branch.type === 'else_clause') otherwise = this.#body(branch);
      else otherwise = [this.#branch(branch, otherwise)];
    }
    return [this.#branch(node, otherwise)];
  }

  #branch(node: Node, otherwise: Statement[]): Statement {
    const test = this.readField(node, 'condition');
    return { kind: 'if', test, body: this.#body(node, 'consequence'), otherwise };
  }

  #try(node: Node): Statement[] {
    const clauses = listParts(node);
    const blocks = (types: string[]) =>
      clauses
        .filter((child) => types.includes(child.type))
        .map((child) => this.block(listParts(child).findLast((part) => part.type === 'block')));
    const body = [...this.#body(node), ...blocks(['else_clause']).flat()];
    const handlers = blocks(['except_clause', 'except_group_clause']);
    return [{ kind: 'try', body, handlers }, ...blocks(['finally_clause']).flat()];
  }

  #with(node: Node): Statement {
    const items = listParts(listParts(node).find((child) => child.type === 'with_clause') ?? node)
      .filter((child) => child.type === 'with_item')
      .map((item) => {
        const value = getField(item, 'value');
        if (value?.type !== 'as_pattern') return { value: this.read(value) };
        const [inner, target] = listParts(value);
        return { value: this.read(inner), ...(target && { as: this.readFirst(target) }) };
      });
    return { kind: 'with', items, body: this.#body(node) };
  }
}
