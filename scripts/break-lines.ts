import { parseAst } from 'rolldown/parseAst';

/** Longer lines are broken within a statement. */
const MAX_CHARACTERS = 250;

/**
 * Begins a line with each statement of minified code, because Node.js prints the line that threw above the trace of an error
 * that nothing catches.
 */
export function breakLines(code: string): string {
  const lines: string[] = [];
  let from = 0;
  for (const [at, isStatement] of [...listBreaks(code)].sort(([one], [other]) => one - other)) {
    if (!isStatement && at - from < MAX_CHARACTERS) continue;
    lines.push(code.slice(from, at));
    from = at;
  }
  return [...lines, code.slice(from)].join('\n');
}

/** Lists where a line break changes nothing, and whether a statement or method begins there. */
function listBreaks(code: string): Map<number, boolean> {
  const breaks = new Map<number, boolean>();
  const visit = (node: unknown) => {
    if (typeof node !== 'object' || node === null) return;
    const { type = '', start = 0 } = node as { type?: string; start?: number };
    // What follows `}` in a template is text.
    if (type !== '' && type !== 'TemplateElement' && /[;,{}]/.test(code[start - 1] ?? ''))
      breaks.set(start, breaks.get(start) || /(Statement|Declaration|MethodDefinition)$/.test(type));
    for (const child of Object.values(node)) visit(child);
  };
  visit(parseAst(code));
  return breaks;
}
