import type { PackModules } from './pack-modules.js';
import type { ClassSyntax, Statement } from './syntax.js';

interface Unregistered {
  readonly file: string;
  readonly line: number;
  readonly name: string;
}

/** What a class has that the host takes for a node. */
const TELLING = new Set(['INPUT_TYPES', 'define_schema']);
const TESTS = /(?:^|\/)tests?(?:_[^/]*)?(?:\/|\.py$)|(?:^|\/)test_[^/]*\.py$/;

/**
 * Finds classes that look like nodes, and that nothing registers as far as the code can be followed. Many are left over,
 * but one of them may be registered in a way that is not understood.
 */
export function findUnregistered(modules: PackModules, mentioned: ReadonlySet<string>): Unregistered[] {
  const known = new Set(mentioned);
  const all = modules
    .paths()
    .filter((path) => !TESTS.test(path))
    .flatMap((file) => listClasses(modules.file(file)?.statements ?? []).map((one) => ({ file, ...one })));
  // A base is there to inherit from.
  for (const { bases } of all)
    for (const { value } of bases)
      known.add(value.kind === 'attribute' ? value.name : value.kind === 'name' ? value.id : '');
  const isNode = ({ body }: ClassSyntax) =>
    body.some((one) => one.kind === 'function' && TELLING.has(one.name));
  return all.filter((one) => isNode(one) && !known.has(one.name));
}

function listClasses(statements: readonly Statement[]): ClassSyntax[] {
  return statements.flatMap((one): ClassSyntax[] => {
    if (one.kind === 'class') return [one];
    if (one.kind === 'if') return listClasses([...one.body, ...one.otherwise]);
    return one.kind === 'try' ? listClasses([...one.body, ...one.handlers.flat()]) : [];
  });
}
