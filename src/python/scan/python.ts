import type { Node } from 'web-tree-sitter';
import type { Expression, Source } from '../definitions/syntax.js';
import { MAX_WORDS, PROGRAMS, readCommand } from './commands.js';
import { getPlainText } from './expression-parts.js';
import { type Call, Facts } from './facts.js';
import { createFinding, createUnreadFinding, type Finding, RULES, type RuleName } from './finding.js';
import { isNetwork, Origins } from './origins.js';

/** Words without which no rule applies, so that most files are skipped after one search. */
const TELLING_WORDS =
  /\b(?:exec|eval|compile|__import__|getattr|builtins|(?:\w*_)?pickle|dill|__pyarmor__|runsource|runcode|push|cloudpickle|joblib|marshal|subprocess|system|popen|startfile|runpy|pty|rmtree|urlopen|urlretrieve|requests|httpx|pip|execfile|run_path|spawn\w*|exec[lv]\w*)\b/;

const RUNNERS =
  /^(?:(?:.*\.)?(?:__builtins__|builtins)(?:\.__dict__)?\.)?(?:exec|eval|execfile)$|^code\.Interactive\w+\(\)\.(?:runsource|runcode|push)$/;
const UNPICKLERS =
  /^(?:(?:c?_?[Pp]ickle|dill|cloudpickle|joblib)\.(?:loads?|Unpickler\(\)\.load)|pandas\.read_pickle)$/;
const FILE_RUNNERS =
  /^(?:runpy\.run_path|importlib\.util\.spec_from_file_location|imp\.load_source|ctypes\.(?:CDLL|cdll\.LoadLibrary|WinDLL))$/;

/** `map(exec, …)`, `partial(os.system, …)`, `Thread(target=exec, …)`: what is passed on is called with what follows it. */
function findPassedOn(call: Call, facts: Facts): Call | undefined {
  const args = call.expression.args.slice(0, MAX_ARGUMENTS);
  const index = args.findIndex(({ value }) => {
    const isNamed = value.kind === 'name' || value.kind === 'attribute';
    return isNamed && RUNS_ARGUMENTS.some((names) => names.test(facts.findName(value)));
  });
  const callee = args[index]?.value;
  if (!callee) return undefined;
  const after = args.slice(index + 1);
  const expression = { ...call.expression, callee, args: after.length > 0 ? after : args.slice(0, index) };
  return { ...call, name: facts.findName(callee), expression };
}

const FETCH_AND_RUN =
  /(?:curl|wget|fetch)\b[^|\n]{0,300}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|(?:curl|wget)\b[^|\n]{0,300}\|\s*python|(?:powershell|pwsh)[^\n]{0,100}\s-e(?:c|nc|ncodedcommand)?\s|(?:\b(?:eval|source|(?:ba|z|da)?sh)|\s-c)[\s"']{0,9}(?:<\(|\$\(|`)\s*(?:curl|wget)\b|(?:curl|wget)\b[^|\n]{0,300}(?:;|&&)\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh\s|chmod\s+[\w+]{0,9}[x7])|(?:DownloadString|DownloadFile)\s*\(|Invoke-Expression|\biex\s*\(|\|\s*iex\b|certutil[^\n]{0,60}-urlcache|\bmshta\s+https?:|bitsadmin\b[^\n]{0,60}\/transfer/i;

/** Programs that run the text behind `-c`. */
const INTERPRETS = /^\S*(?:sh|python[\d.]*)(?:\.exe)? -c\b/;
const PIPED = /\|\s*(?:sudo\s+)?(?:(?:ba|z|da)?sh|python[\d.]*|iex)\b/;

const RUNS_ARGUMENTS = [RUNNERS, UNPICKLERS, PROGRAMS];
/** Arguments of one call that are searched for such a function. */
const MAX_ARGUMENTS = 100;

const MAX_FINDINGS = 100;

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
  if (!facts.isWhole || origins.isSpent)
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
    const isAddress = /^(?:https?|ftp):/.test(readCommand(expression, scope, facts));
    return from.has('network') || (name.startsWith('pandas.') && isAddress) ? 'remote-pickle' : 'pickle';
  }
  if (PROGRAMS.test(name)) return judgeProgram(call, facts, origins);
  if (FILE_RUNNERS.test(name))
    return expression.args.some((argument) => origins.isDownloaded(argument.value))
      ? 'downloaded-program'
      : undefined;
  if (/(?:^|\.)__pyarmor__$/.test(name)) return 'obfuscated-code';
  if (name === 'types.FunctionType' && first) {
    const rule = judgeExecution(first.value, call, origins);
    return rule === 'dynamic-code' ? undefined : rule;
  }
  if (/^pip\.(?:main|_internal\.main|_internal\.cli\.main\.main)$/.test(name)) return 'runtime-install';
  if (name === 'shutil.rmtree') return 'deletes-folders';
  return scope === 0 && isNetwork(name) ? 'network-at-import' : undefined;
}

function judgeExecution(code: Expression, call: Call, origins: Origins): RuleName {
  const from = origins.of(code, call.scope);
  if (from.has('network')) return 'remote-code';
  if (from.has('decoded')) return 'obfuscated-code';
  if (from.has('downloaded')) return 'downloaded-program';
  return 'dynamic-code';
}

function judgeProgram(call: Call, facts: Facts, origins: Origins): RuleName {
  const given = call.expression.args.map((argument) => argument.value);
  // What runs is the first argument; the others say how.
  const [command] = given;
  const words = readCommand(call.expression, call.scope, facts, /\.(?:exec|spawn)[lv]/.test(call.name));
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
  const text = command?.kind !== 'list' ? command : INTERPRETS.test(words) ? command.items[2] : undefined;
  const run = text && (PIPED.test(words) ? text : findProgram(text));
  const from = run ? origins.of(run, call.scope, true) : new Set();
  if (from.has('network') || from.has('decoded')) return 'hidden-command';
  const all = readCommand(call.expression, call.scope, facts, true);
  if (/\b(?:pip3?|uv)\b[\s\S]*\binstall\b/.test(all)) return 'runtime-install';
  return /^\s*(?:sudo )?rm\s+-\w*r|\brmdir\s+\/s/i.test(words) ? 'deletes-folders' : 'subprocess';
}

/** What stands before a path that is run: nothing, or another program that runs it. */
const LAUNCHES =
  /(?:^|[;&|])\s*(?:(?:sudo|nohup|exec|env|cmd|start|open|chmod|wine|mono|perl|node|(?:ba|z|da)?sh)\b[^;&|]*|python[^;&|]*|["'./\\]*)$/;

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
