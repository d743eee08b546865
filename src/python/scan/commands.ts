import type { Expression } from '../definitions/syntax.js';
import { getPlainText, listInner } from './expression-parts.js';
import type { Facts, Value } from './facts.js';

export const PROGRAMS =
  /^(?:subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|(?:os|posix|nt)\.(?:system|popen|startfile|exec[lv]\w*|spawn\w*)|pty\.spawn|commands\.getoutput|asyncio\.create_subprocess_(?:exec|shell))$/;

/** Characters of a command that are searched; patterns take quadratic time over longer ones. */
export const MAX_WORDS = 2000;
/** Expressions that are read for the words of one command; names can refer to each other without end. */
const MAX_EXPRESSIONS = 500;

/** The plain words of the first argument of a call, or of all, through names and lists. */
export function readCommand(
  call: Expression & { kind: 'call' },
  scope: number,
  facts: Facts,
  ofAll = false,
): string {
  const given = ofAll ? call.args : call.args.slice(0, 1);
  return given
    .map(({ value }) => collectTexts({ value, scope }, facts, 0, { expressions: MAX_EXPRESSIONS }).join(' '))
    .join(' ')
    .slice(0, MAX_WORDS);
}

function collectTexts(
  { value: expression, scope }: Value,
  facts: Facts,
  depth: number,
  left: { expressions: number },
): string[] {
  if (depth > 10 || --left.expressions < 0) return [];
  const plain = getPlainText(expression);
  if (plain !== undefined) return [plain];
  if (expression.kind === 'attribute' && expression.name === 'executable') return ['python'];
  switch (expression.kind) {
    case 'format':
      return expression.parts.slice(0, 50).map((part) => (typeof part === 'string' ? part : '…'));
    case 'name':
      return facts
        .listValues(expression.id, scope)
        .slice(0, 5)
        .flatMap((one) => collectTexts(one, facts, depth + 1, left));
    default:
      return listInner(expression)
        .slice(0, 50)
        .flatMap((value) => collectTexts({ value, scope }, facts, depth + 1, left));
  }
}
