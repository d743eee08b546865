/**
 * Python as plain data: what is left of a syntax tree once it is freed. Bodies of functions stay text and are parsed when
 * something calls them, because nearly none is ever needed.
 */

/** A text that was parsed: a whole file, or a function of it. */
export interface Source {
  readonly path: string;
  readonly text: string;
  /** Line of the file at which the text begins, from 1. */
  readonly firstLine: number;
}

/** A place in a source; offsets in UTF-16 units. */
export interface Place {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

export interface Argument {
  readonly name?: string;
  readonly spread?: '*' | '**';
  readonly value: Expression;
}

export interface Clause {
  readonly target: Expression;
  readonly iterable: Expression;
  readonly conditions: Expression[];
}

export interface Parameter {
  readonly name: string;
  readonly spread?: '*' | '**';
  readonly fallback?: Expression;
}

type Shape =
  /** bigint is Python's int and number its float, so that both are written as the host would. */
  | { readonly kind: 'constant'; readonly value: string | bigint | number | boolean | null }
  | { readonly kind: 'name'; readonly id: string }
  | { readonly kind: 'attribute'; readonly object: Expression; readonly name: string }
  | { readonly kind: 'item'; readonly object: Expression; readonly key: Expression }
  | {
      readonly kind: 'slice';
      readonly object: Expression;
      readonly from?: Expression;
      readonly to?: Expression;
    }
  | { readonly kind: 'call'; readonly callee: Expression; readonly args: Argument[] }
  | { readonly kind: 'list' | 'tuple' | 'set'; readonly items: Expression[] }
  | { readonly kind: 'spread'; readonly value: Expression }
  | {
      readonly kind: 'dict';
      readonly entries: { readonly key?: Expression; readonly value: Expression }[];
    }
  | { readonly kind: 'format'; readonly parts: (string | Expression)[] }
  | {
      readonly kind: 'binary' | 'boolean' | 'compare';
      readonly operator: string;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly kind: 'unary'; readonly operator: string; readonly operand: Expression }
  | {
      readonly kind: 'conditional';
      readonly test: Expression;
      readonly value: Expression;
      readonly otherwise: Expression;
    }
  | {
      readonly kind: 'comprehension';
      readonly of: 'list' | 'dict' | 'set';
      readonly key?: Expression;
      readonly value: Expression;
      readonly clauses: Clause[];
    }
  | { readonly kind: 'lambda'; readonly parameters: Parameter[]; readonly body: Expression }
  | { readonly kind: 'named'; readonly target: Expression; readonly value: Expression }
  | { readonly kind: 'yield'; readonly value: Expression; readonly isMany: boolean }
  | { readonly kind: 'other' };

export type Expression = Shape & Place;

export interface FunctionSyntax {
  readonly kind: 'function';
  readonly name: string;
  readonly parameters: Parameter[];
  readonly decorators: Expression[];
  /** The whole definition, from `def` on. */
  readonly source: Source;
}

export interface ClassSyntax {
  readonly kind: 'class';
  readonly name: string;
  readonly bases: Argument[];
  readonly decorators: Expression[];
  readonly body: Statement[];
  readonly line: number;
}

export interface ImportSyntax {
  readonly kind: 'import';
  /** Leading dots; 0 is an absolute import. */
  readonly level: number;
  readonly module: string;
  /** Names taken out of the module; absent for a plain `import module`. */
  readonly names?: { readonly name: string; readonly as: string }[];
  readonly as?: string;
  readonly at: Place;
}

export type Statement =
  | { readonly kind: 'expression'; readonly value: Expression }
  | {
      readonly kind: 'assign';
      readonly targets: Expression[];
      readonly value: Expression;
      readonly operator?: string;
    }
  | ImportSyntax
  | ClassSyntax
  | FunctionSyntax
  | {
      readonly kind: 'if';
      readonly test?: Expression;
      readonly body: Statement[];
      readonly otherwise: Statement[];
    }
  | {
      readonly kind: 'for';
      readonly target: Expression;
      readonly iterable: Expression;
      readonly body: Statement[];
    }
  | { readonly kind: 'while'; readonly test: Expression; readonly body: Statement[] }
  | { readonly kind: 'try'; readonly body: Statement[]; readonly handlers: Statement[][] }
  | {
      readonly kind: 'with';
      readonly items: { readonly value: Expression; readonly as?: Expression }[];
      readonly body: Statement[];
    }
  | { readonly kind: 'return'; readonly value?: Expression }
  | { readonly kind: 'delete'; readonly targets: Expression[] }
  | { readonly kind: 'global' | 'nonlocal'; readonly names: string[] }
  | { readonly kind: 'raise' | 'break' | 'continue' };

const shownTexts = new WeakMap<Place, string>();

/** The text of a place, on one line and short enough to show. */
export function showPlace(place: Place): string {
  const known = shownTexts.get(place);
  if (known !== undefined) return known;
  const text = place.source.text
    .slice(place.start, Math.min(place.end, place.start + 400))
    .replace(/\s+/g, ' ');
  const short = text.length > 120 ? `${text.slice(0, 119)}…` : text;
  shownTexts.set(place, short);
  return short;
}

const lineEnds = new WeakMap<Source, number[]>();

/** The line of the file, from 1. */
export function findLine({ source, start }: Place): number {
  let ends = lineEnds.get(source);
  if (!ends) {
    ends = [];
    for (let at = source.text.indexOf('\n'); at !== -1; at = source.text.indexOf('\n', at + 1)) ends.push(at);
    lineEnds.set(source, ends);
  }
  let [low, high] = [0, ends.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ends[middle] as number) < start) low = middle + 1;
    else high = middle;
  }
  return source.firstLine + low;
}
