import type { PackModules } from './pack-modules.js';
import type { ClassSyntax, Statement } from './syntax.js';

interface Unregistered extends Pick<ClassSyntax, 'name' | 'line' | 'decorators'> {
  readonly file: string;
}

/** What a class has that the host takes for a node. */
const TELLING = new Set(['INPUT_TYPES', 'define_schema']);
const TEST_FILE =
  /(?:^|\/)(?:tests?|testing|__tests__)\/|(?:^|\/)(?:tests?|conftest|test_[^/]*|[^/]*_test|[^/]*\.(?:test|spec))\.\w+$/i;

export function isTestFile(path: string): boolean {
  return TEST_FILE.test(path);
}

/**
 * Finds classes that look like nodes, and that nothing registers as far as the code can be followed. Many are left over,
 * but one of them may be registered in a way that is not understood.
 */
export function findUnregistered(modules: PackModules, mentioned: ReadonlySet<string>): Unregistered[] {
  const known = new Set(mentioned);
  const all = modules
    .paths()
    .filter((path) => !isTestFile(path))
    .flatMap((file) => listClasses(modules.file(file)?.statements ?? []).map((one) => ({ file, ...one })));
  // A base is there to inherit from.
  for (const { bases } of all)
    for (const { value } of bases)
      known.add(value.kind === 'attribute' ? value.name : value.kind === 'name' ? value.id : '');
  const isNode = ({ body }: ClassSyntax) =>
    body.some((one) => one.kind === 'function' && TELLING.has(one.name));
  return all.filter((one) => isNode(one) && !known.has(one.name));
}

/** Without recursion, because branches may nest without end. */
function listClasses(statements: readonly Statement[]): ClassSyntax[] {
  const found: ClassSyntax[] = [];
  const open = [statements];
  for (let block = open.pop(); block; block = open.pop()) {
    for (const one of block) {
      if (one.kind === 'class') found.push(one);
      else if (one.kind === 'if') open.push(one.otherwise, one.body);
      else if (one.kind === 'try') open.push(...one.handlers, one.body);
    }
  }
  return found;
}
