import { type Expression, showPlace } from '../definitions/syntax.js';
import { PROGRAMS, readCommand } from './commands.js';
import { getPlainText, listInner } from './expression-parts.js';
import type { Facts, Value } from './facts.js';

/** Where a value comes from, as far as it matters: the network, a file that was downloaded, or a decoder. */
export type Origin = 'network' | 'downloaded' | 'decoded';

const NETWORK =
  /^(?:(?:requests(?:\.[sS]ession\(\))?|httpx(?:\.(?:Async)?Client\(\))?|aiohttp(?:\.ClientSession\(\))?|urllib3(?:\.PoolManager\(\))?)\.(?:get|post|put|patch|delete|head|options|request|send|stream|urlopen)|(?:urllib\.request|urllib2|urllib)\.urlopen|http\.client\.HTTPS?Connection\(\)\.getresponse|socket\.(?:(?:socket|create_connection)\(\)\.(?:recv|makefile)|create_connection))$/;

const DOWNLOADS =
  /^(?:urllib\.request\.urlretrieve|urllib\.urlretrieve|wget\.download|gdown\.download|torch\.hub\.download_url_to_file|torchvision\.datasets\.utils\.download_url|pooch\.retrieve)$/;

/** What makes something of the name of a file; it is known by itself whether this file downloads that. */
const FILES =
  /^(?:(?:(?:io|builtins|codecs)\.)?open|(?:pathlib\.)?(?:Pure)?(?:Posix|Windows)?Path|os\.(?:path\.\w+|open|listdir|environ\.get|getenv))$/;
/** Methods whose first argument says which of many values is wanted. */
const LOOKUPS = /^(?:get|pop|setdefault|decode|encode|read_text)$/;

const OPENERS = /^(?:(?:io|builtins|codecs)\.)?open$/;
const DECODERS =
  /^(?:base64\.(?=\w*decode)\w+|binascii\.(?:unhexlify|a2b_\w+)|zlib\.decompress|bz2\.decompress|lzma\.decompress|gzip\.decompress|marshal\.loads?|bytes\.fromhex|bytearray\.fromhex|codecs\.decode|codecs\.getdecoder\(\)|zlib\.decompressobj\(\)\.decompress|struct\.pack|chr)$/;
/** Expressions that are followed in one file, about a second's worth. */
const MAX_STEPS = 500_000;
/** Methods that decode, on any object. */
const DECODING_METHODS = /^(?:translate|to_bytes|decrypt)$/;
const NUMBERS = ['list', 'tuple', 'comprehension', 'map', 'reversed'];
const REVERSED = /^\s*:\s*:\s*-\s*1\s*$/;
/** Letters of code that are written as numbers. */
const ESCAPED = /(?:\\(?:x|u00)[2-7][\da-f]){3}/i;
const HIDING_CODEC = /^(?:rot|hex|base|zip|zlib|bz2|uu|quopri)/i;

export function isNetwork(name: string): boolean {
  return NETWORK.test(name) || DOWNLOADS.test(name);
}

/** Finds where values come from within one file. */
export class Origins {
  readonly #downloaded: Set<string>;
  #steps = 0;
  #total = 0;
  #skipsLists = false;

  constructor(readonly facts: Facts) {
    this.#downloaded = new Set();
    for (const call of facts.calls) {
      const { args } = call.expression;
      if (DOWNLOADS.test(call.name))
        this.#remember(args[1]?.value ?? args.find((a) => a.name === 'filename')?.value);
      // `open(path, 'wb').write(response.content)`, most often through `with … as file`.
      const isWrite = /\.write(?:_bytes|_text)?$/.test(call.name);
      if (!isWrite && !call.name.endsWith('.copyfileobj')) continue;
      const written = args[0]?.value;
      if (!written || !this.of(written, call.scope).has('network')) continue;
      const { callee } = call.expression;
      const file = isWrite ? (callee.kind === 'attribute' ? callee.object : undefined) : args[1]?.value;
      for (const opened of file ? this.#opened(file, call.scope) : []) this.#remember(opened);
      // `path.write_bytes(…)`
      if (!call.name.endsWith('.write')) this.#remember(file);
    }
  }

  /** Whether a path is one that this file downloads to. */
  isDownloaded(path: Expression): boolean {
    const isPart = ['list', 'tuple', 'format', 'binary'].includes(path.kind);
    const isPath =
      path.kind === 'call' && ['str', 'os.path.abspath'].includes(this.facts.findName(path.callee));
    if (isPart || isPath) return listInner(path).some((inner) => this.isDownloaded(inner));
    return this.#downloaded.has(showPlace(path));
  }

  /** Whether values were left out, because the file refers to itself without end. */
  get isSpent(): boolean {
    return this.#total > MAX_STEPS;
  }

  /** @param skipsLists whether items are the arguments of a program, and not the program */
  of(expression: Expression, scope: number, skipsLists = false): Set<Origin> {
    const found = new Set<Origin>();
    this.#steps = 0;
    this.#skipsLists = skipsLists;
    this.#collect(expression, scope, found, 0, new Set());
    return found;
  }

  #remember(path: Expression | undefined): void {
    if (path && (path.kind !== 'constant' || typeof path.value === 'string'))
      this.#downloaded.add(showPlace(path));
  }

  #opened(file: Expression, scope: number): Expression[] {
    const values = file.kind === 'name' ? this.facts.listValues(file.id, scope) : [{ value: file }];
    return values.flatMap(({ value }) => {
      if (value.kind !== 'call' || !isFile(this.facts.findName(value.callee))) return [];
      const [path] = value.args;
      return path ? [path.value] : [];
    });
  }

  #collect(
    expression: Expression,
    scope: number,
    found: Set<Origin>,
    depth: number,
    seen: Set<string>,
  ): void {
    if (depth > 40 || ++this.#steps > 2000 || ++this.#total > MAX_STEPS) return;
    const into = ({ value, scope: from }: Value) => this.#collect(value, from, found, depth + 1, seen);
    const intoAll = (name: string) => {
      const key = `${scope} ${name}`;
      if (seen.has(key)) return;
      seen.add(key);
      for (const value of this.facts.listValues(name, scope)) into(value);
    };
    switch (expression.kind) {
      case 'name':
        // `map(chr, …)`
        if (expression.id === 'chr') found.add('decoded');
        intoAll(expression.id);
        break;
      case 'call': {
        this.#call(expression, scope, found);
        const { callee } = expression;
        if (callee.kind === 'attribute' && /^read_(?:bytes|text)$/.test(callee.name)) {
          // A path: what the file holds does not come from where its name does.
          const origins = new Set<Origin>(this.isDownloaded(callee.object) ? ['downloaded'] : []);
          this.#collect(callee.object, scope, origins, depth + 1, seen);
          for (const origin of origins) if (origin !== 'network') found.add(origin);
          return;
        }
        if (callee.kind === 'attribute') intoAll(`${callee.name}()`);
        else if (callee.kind === 'name') intoAll(`${callee.id}()`);
        break;
      }
      case 'attribute':
        intoAll(`.${expression.name}`);
        break;
      case 'item':
        if (REVERSED.test(showPlace(expression.key))) {
          const values = this.facts.listValues(showPlace(expression.object), scope).map(({ value }) => value);
          if ([expression.object, ...values].some((one) => getPlainText(one) !== undefined))
            found.add('decoded');
        }
        if (expression.object.kind === 'name') intoAll(`${expression.object.id}[]`);
        break;
      case 'list':
      case 'tuple':
        if (this.#skipsLists) return;
        break;
      case 'constant':
      case 'other':
        if (ESCAPED.test(showPlace(expression))) found.add('decoded');
    }
    // A value that a call changes still comes from where it came from.
    const isCall = expression.kind === 'call';
    const made = isCall ? this.#dropNames(expression) : expression;
    for (const inner of listInner(made))
      for (const value of isCall && inner.kind === 'list' ? inner.items : [inner]) into({ value, scope });
  }

  /** A call without the arguments that name something, from which no value comes: a file, an entry, a codec. */
  #dropNames(call: Expression & { kind: 'call' }): Expression & { kind: 'call' } {
    const name = this.facts.findName(call.callee);
    if (FILES.test(name)) return { ...call, args: [] };
    if (name.endsWith('compile')) return { ...call, args: call.args.slice(0, 1) };
    const isLookup = call.callee.kind === 'attribute' && LOOKUPS.test(call.callee.name);
    return isLookup ? { ...call, args: call.args.slice(1) } : call;
  }

  #call(expression: Expression & { kind: 'call' }, scope: number, found: Set<Origin>): void {
    const name = this.facts.findName(expression.callee);
    if (NETWORK.test(name)) found.add('network');
    if (PROGRAMS.test(name) && /\b(?:curl|wget)\b/.test(readCommand(expression, scope, this.facts)))
      found.add('network');
    if (DECODERS.test(name) && !isPlainCodec(name, expression)) found.add('decoded');
    if (isFile(name) && expression.args[0] && this.isDownloaded(expression.args[0].value))
      found.add('downloaded');
    if (name.startsWith('huggingface_hub.') && name.endsWith('_download')) found.add('downloaded');
    const { callee, args } = expression;
    const first = args[0]?.value;
    // `bytes([112, 114])` spells a text out in numbers, as `''.join(chr(n) for n in …)` does.
    const given = first?.kind === 'call' ? this.facts.findName(first.callee) : (first?.kind ?? '');
    if (/^(?:bytes|bytearray)$/.test(name) && NUMBERS.includes(given)) found.add('decoded');
    if (callee.kind !== 'attribute') return;
    const text = first && getPlainText(first);
    const isDecoded =
      DECODING_METHODS.test(callee.name) ||
      (callee.name === 'decode' && text !== undefined && HIDING_CODEC.test(text)) ||
      (callee.name === 'join' && given === 'reversed');
    if (isDecoded) found.add('decoded');
  }
}

function isFile(name: string): boolean {
  return OPENERS.test(name) || name === 'pathlib.Path';
}

/** `codecs.decode(x, 'utf-8')` hides nothing. */
function isPlainCodec(name: string, expression: Expression & { kind: 'call' }): boolean {
  if (!name.startsWith('codecs.')) return false;
  const codec = expression.args[name === 'codecs.decode' ? 1 : 0];
  const text = codec && getPlainText(codec.value);
  return text === undefined ? !codec : /^(?:utf|ascii|latin|cp)/i.test(text);
}
