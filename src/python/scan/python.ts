import type { Node } from 'web-tree-sitter';
import type { Expression, Source } from '../definitions/syntax.js';
import { type Call, Facts, getPlainText } from './facts.js';
import { createFinding, createUnreadFinding, type Finding, RULES, type RuleName } from './finding.js';
import { isNetwork, Origins } from './origins.js';

/** Words without which no rule applies, so that most files are skipped after one search. */
const TELLING_WORDS =
  /\b(?:exec|eval|compile|__import__|getattr|builtins|pickle|dill|cloudpickle|joblib|marshal|subprocess|system|popen|startfile|runpy|pty|rmtree|urlopen|urlretrieve|requests|httpx|pip|execfile|run_path|spawn\w*|exec[lv]\w*)\b/;

const RUNNERS = /^(?:(?:.*\.)?(?:__builtins__|builtins)(?:\.__dict__)?\.)?(?:exec|eval|execfile)$/;
const UNPICKLERS = /^(?:c?_?[Pp]ickle|dill|cloudpickle|joblib)\.(?:loads?|Unpickler\(\)\.load)$/;
const PROGRAMS =
  /^(?:subprocess\.(?:run|call|check_call|check_output|Popen|getoutput|getstatusoutput)|os\.(?:system|popen|startfile|exec[lv]\w*|spawn\w*)|pty\.spawn|commands\.getoutput|asyncio\.create_subprocess_(?:exec|shell))$/;
const FILE_RUNNERS =
  /^(?:runpy\.run_path|importlib\.util\.spec_from_file_location|imp\.load_source|ctypes\.(?:CDLL|cdll\.LoadLibrary|WinDLL))$/;

/** `map(exec, …)`, `partial(os.system, …)`, `Thread(target=exec, …)`: what is passed on is called with what follows it. */
function findPassedOn(call: Call, facts: Facts): Call | undefined {
  const args = call.expression.args.slice(0, MAX_ARGUMENTS);
  const index = args.findIndex(({ value }) => {
    const isNamed = value.kind === 'name' || value.kind === 'attribute';
    return isNamed && RUNS_ARGUMENTS.some((names) => names.test(facts.nameOf(value)));
  });
  const callee = args[index]?.value;
  if (!callee) return undefined;
  const after = args.slice(index + 1);
  const expression = { ...call.expression, callee, args: after.length > 0 ? after : args.slice(0, index) };
  return { ...call, name: facts.nameOf(callee), expression };
}

const FETCH_AND_RUN =
  /(?:curl|wget|fetch)\b[^|\n]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?:curl|wget)\b[^|\n]{0,300}\|\s*python|powershell[^\n]{0,100}\s-e(?:nc|ncodedcommand)?\s|(?:DownloadString|DownloadFile)\s*\(|Invoke-Expression|\biex\s*\(|certutil[^\n]{0,60}-urlcache|\bmshta\s+https?:|bitsadmin\b[^\n]{0,60}\/transfer/i;

const PIPED = /\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python[\d.]*|iex)\b/;

const RUNS_ARGUMENTS = [RUNNERS, UNPICKLERS, PROGRAMS];
/** Arguments of one call that are searched for such a function. */
const MAX_ARGUMENTS = 100;

const MAX_FINDINGS = 100;
/** Characters of a command that are searched; patterns take quadratic time over longer ones. */
const MAX_WORDS = 2000;

/** Looks at one file of Python for code that runs what it should not. */
export function scanPython(root: Node, source: Source): Finding[] {
  if (!TELLING_WORDS.test(source.text.normalize('NFKC'))) return [];
  const facts = new Facts(root, source);
  const origins = new Origins(facts);
  const found = new Map<string, Finding>();
  for (const call of facts.calls) {
    const rule = findRule(call, facts, origins);
    if (rule && (found.size < MAX_FINDINGS || RULES[rule].severity === 'high'))
      found.set(`${call.line} ${rule}`, createFinding(source.path, call.line, rule));
    // Enough to flag it by; a file of nothing else would fill memory.
    if (found.size >= 2 * MAX_FINDINGS) break;
  }
  if (!facts.isWhole)
    return [createUnreadFinding(source.path, 'it holds more code than one file may'), ...found.values()];
  return [...found.values()];
}

function findRule(call: Call, facts: Facts, origins: Origins): RuleName | undefined {
  const { name, scope, expression } = call;
  const [first] = expression.args;
  if (RUNNERS.test(name)) return first && judgeExecution(first.value, call, origins);
  const passedOn = findPassedOn(call, facts);
  if (passedOn) return findRule(passedOn, facts, origins);
  if (UNPICKLERS.test(name)) {
    const from = first ? origins.of(first.value, scope) : new Set();
    return from.has('network') ? 'remote-pickle' : 'pickle';
  }
  if (PROGRAMS.test(name)) return judgeProgram(call, facts, origins);
  if (FILE_RUNNERS.test(name))
    return expression.args.some((argument) => origins.isDownloaded(argument.value))
      ? 'downloaded-program'
      : undefined;
  if (/^types\.FunctionType$/.test(name) && first && origins.of(first.value, scope).has('decoded'))
    return 'obfuscated-code';
  if (/^pip\.(?:main|_internal\.main|_internal\.cli\.main\.main)$/.test(name)) return 'runtime-install';
  if (name === 'shutil.rmtree') return 'deletes-folders';
  return scope === 0 && isNetwork(name) ? 'network-at-import' : undefined;
}

function judgeExecution(code: Expression, call: Call, origins: Origins): RuleName | undefined {
  const from = origins.of(code, call.scope);
  if (from.has('network')) return 'remote-code';
  if (from.has('decoded')) return 'obfuscated-code';
  if (from.has('downloaded')) return 'downloaded-program';
  return 'dynamic-code';
}

function judgeProgram(call: Call, facts: Facts, origins: Origins): RuleName {
  const given = call.expression.args.map((argument) => argument.value);
  // What runs is the first argument; the others say how.
  const [command, ...more] = given;
  const words = command ? collectTexts(command, call.scope, facts).join(' ').slice(0, MAX_WORDS) : '';
  if (FETCH_AND_RUN.test(words)) return 'download-command';
  const parts =
    call.name.startsWith('os.') || call.name.startsWith('asyncio.') ? given : command ? [command] : [];
  // The program itself, not a downloaded picture that ffmpeg is given to read.
  const program = command && findProgram(command);
  if (program && origins.isDownloaded(program)) return 'downloaded-program';
  if (
    /^(?:ba|z|da)?sh$|python/.test(words.split(' ')[0] ?? '') &&
    parts.some((part) => origins.isDownloaded(part))
  )
    return 'downloaded-program';
  // Text from the network inside of a list, or behind a program, is an argument; in its place it is the program.
  const run = PIPED.test(words) ? command : program;
  const from = run && command?.kind !== 'list' ? origins.ofProgram(run, call.scope) : new Set();
  if (from.has('network') || from.has('decoded')) return 'hidden-command';
  const all = [words, ...more.flatMap((one) => collectTexts(one, call.scope, facts))]
    .join(' ')
    .slice(0, MAX_WORDS);
  if (/\b(?:pip3?|uv)\b[\s\S]*\binstall\b/.test(all)) return 'runtime-install';
  return /^\s*(?:sudo )?rm\s+-\w*r|\brmdir\s+\/s/i.test(words) ? 'deletes-folders' : 'subprocess';
}

/** What stands before a path that is run: nothing, or another program that runs it. */
const LAUNCHES =
  /(?:^|[;&|])\s*(?:(?:sudo|nohup|exec|env|cmd|start|open|chmod|wine|mono|perl|node|(?:ba|z|da)?sh|python[\d.]*)\b[^;&|]*)?["'./\\]*$/;

function findProgram(command: Expression): Expression | undefined {
  if (command.kind === 'list' || command.kind === 'tuple') return command.items[0];
  if (command.kind === 'format') {
    const [first, second] = command.parts;
    if (typeof first !== 'string') return first;
    return typeof second !== 'string' && LAUNCHES.test(first.slice(0, MAX_WORDS)) ? second : undefined;
  }
  if (command.kind !== 'binary') return command;
  const text = getPlainText(command.left);
  if (text === undefined) return findProgram(command.left);
  const before = command.operator === '%' ? text.replace(/%[\s\S]*/, '') : text;
  return LAUNCHES.test(before.slice(0, MAX_WORDS)) ? command.right : undefined;
}

/** Expressions that are read for the words of one command; names can refer to each other without end. */
const MAX_EXPRESSIONS = 500;

/** The plain words of a command, through names and lists. */
function collectTexts(
  expression: Expression,
  scope: number,
  facts: Facts,
  depth = 0,
  left = { expressions: MAX_EXPRESSIONS },
): string[] {
  if (depth > 10 || --left.expressions < 0) return [];
  const plain = getPlainText(expression);
  if (plain !== undefined) return [plain];
  switch (expression.kind) {
    case 'list':
    case 'tuple':
      return expression.items
        .slice(0, 50)
        .flatMap((item) => collectTexts(item, scope, facts, depth + 1, left));
    case 'binary':
      return [expression.left, expression.right].flatMap((one) =>
        collectTexts(one, scope, facts, depth + 1, left),
      );
    case 'format':
      return expression.parts.slice(0, 50).map((part) => (typeof part === 'string' ? part : '…'));
    case 'spread':
      return collectTexts(expression.value, scope, facts, depth + 1, left);
    case 'attribute':
      return expression.name === 'executable' ? ['python'] : [];
    case 'name':
      return facts
        .valuesOf(expression.id, scope)
        .slice(0, 5)

        .flatMap(({ value, scope: from }) => collectTexts(value, from, facts, depth + 1, left));
    default:
      return [];
  }
}
