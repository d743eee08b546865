import { type Expression, showPlace } from '../definitions/syntax.js';
import { type Facts, getPlainText } from './facts.js';

/** Where a value comes from, as far as it matters: the network, a file that was downloaded, or a decoder. */
export type Origin = 'network' | 'downloaded' | 'decoded';

const NETWORK =
  /^(?:(?:requests(?:\.[sS]ession\(\))?|httpx(?:\.(?:Async)?Client\(\))?|aiohttp(?:\.ClientSession\(\))?|urllib3(?:\.PoolManager\(\))?)\.(?:get|post|put|patch|delete|head|options|request|send|stream|urlopen)|(?:urllib\.request|urllib2|urllib)\.urlopen|http\.client\.HTTPS?Connection\(\)\.getresponse|socket\.(?:(?:socket|create_connection)\(\)\.(?:recv|makefile)|create_connection))$/;

const DOWNLOADS =
  /^(?:urllib\.request\.urlretrieve|urllib\.urlretrieve|wget\.download|gdown\.download|torch\.hub\.download_url_to_file|torchvision\.datasets\.utils\.download_url|pooch\.retrieve)$/;

const OPENERS = /^(?:(?:io|builtins|codecs)\.)?open$/;
const DECODERS =
  /^(?:base64\.(?=\w*decode)\w+|binascii\.(?:unhexlify|a2b_\w+)|zlib\.decompress|bz2\.decompress|lzma\.decompress|gzip\.decompress|marshal\.loads?|bytes\.fromhex|bytearray\.fromhex|codecs\.decode|codecs\.getdecoder\(\)|zlib\.decompressobj\(\)\.decompress|struct\.pack|chr)$/;
/** Methods that decode whatever object has them. */
const DECODING_METHODS = /^(?:translate|to_bytes|decrypt)$/;
const NUMBERS = ['list', 'tuple', 'comprehension', 'map', 'reversed'];
const REVERSED = /^\s*:\s*:\s*-\s*1\s*$/;
const HIDING_CODEC = /^(?:rot|hex|base|zip|zlib|bz2|uu|quopri)/i;

export function isNetwork(name: string): boolean {
  return NETWORK.test(name) || DOWNLOADS.test(name);
}

/** Finds where values come from within one file. */
export class Origins {
  readonly #downloaded: Set<string>;
  #steps = 0;
  #skipsLists = false;

  constructor(readonly facts: Facts) {
    this.#downloaded = new Set();
    for (const call of facts.calls) {
      const { args } = call.expression;
      if (DOWNLOADS.test(call.name))
        this.#remember(args[1]?.value ?? args.find((a) => a.name === 'filename')?.value);
      // `open(path, 'wb').write(response.content)`, most often through `with … as file`.
      const isWrite = call.name.endsWith('.write');
      if (!isWrite && !call.name.endsWith('.copyfileobj')) continue;
      const written = args[0]?.value;
      if (!written || !this.of(written, call.scope).has('network')) continue;
      const { callee } = call.expression;
      const file = isWrite ? (callee.kind === 'attribute' ? callee.object : undefined) : args[1]?.value;
      for (const opened of file ? this.#opened(file, call.scope) : []) this.#remember(opened);
    }
  }

  /** Whether a path is one that this file downloads to. */
  isDownloaded(path: Expression): boolean {
    if (path.kind === 'list' || path.kind === 'tuple')
      return path.items.some((item) => this.isDownloaded(item));
    if (path.kind === 'format')
      return path.parts.some((part) => typeof part !== 'string' && this.isDownloaded(part));
    if (path.kind === 'binary') return this.isDownloaded(path.left) || this.isDownloaded(path.right);
    if (path.kind === 'call' && ['str', 'os.path.abspath'].includes(this.facts.nameOf(path.callee)))
      return path.args.some((argument) => this.isDownloaded(argument.value));
    return this.#downloaded.has(showPlace(path));
  }

  of(expression: Expression, scope: number): Set<Origin> {
    const found = new Set<Origin>();
    this.#steps = 0;
    this.#collect(expression, scope, found, 0, new Set());
    return found;
  }

  /** As `of`, for what is run as a program: the items of a list are its arguments. */
  ofProgram(expression: Expression, scope: number): Set<Origin> {
    this.#skipsLists = true;
    const found = this.of(expression, scope);
    this.#skipsLists = false;
    return found;
  }

  #remember(path: Expression | undefined): void {
    if (path && (path.kind !== 'constant' || typeof path.value === 'string'))
      this.#downloaded.add(showPlace(path));
  }

  #opened(file: Expression, scope: number): Expression[] {
    const values = file.kind === 'name' ? this.facts.valuesOf(file.id, scope) : [{ value: file }];
    return values.flatMap(({ value }) => {
      if (value.kind !== 'call' || !OPENERS.test(this.facts.nameOf(value.callee))) return [];
      const [path] = value.args;
      return path ? [path.value] : [];
    });
  }

  #isText(expression: Expression, scope: number): boolean {
    const values = expression.kind === 'name' ? this.facts.valuesOf(expression.id, scope) : [];
    return [expression, ...values.map(({ value }) => value)].some((one) => getPlainText(one) !== undefined);
  }

  #collect(
    expression: Expression,
    scope: number,
    found: Set<Origin>,
    depth: number,
    seen: Set<string>,
  ): void {
    if (depth > 40 || ++this.#steps > 2000) return;
    const into = (inner: Expression | undefined, from = scope) => {
      if (inner) this.#collect(inner, from, found, depth + 1, seen);
    };
    const intoAll = (name: string) => {
      const key = `${scope} ${name}`;
      if (seen.has(key)) return;
      seen.add(key);
      for (const { value, scope: from } of this.facts.valuesOf(name, scope)) into(value, from);
    };
    switch (expression.kind) {
      case 'name':
        // `map(chr, …)`
        if (expression.id === 'chr') found.add('decoded');
        intoAll(expression.id);
        return;
      case 'call':
        this.#call(expression, found);
        // Whatever a call does to a value, the value still comes from where it came from.
        if (expression.callee.kind === 'attribute') into(expression.callee.object);
        else into(expression.callee);
        if (expression.callee.kind === 'attribute') intoAll(`${expression.callee.name}()`);
        else if (expression.callee.kind === 'name') intoAll(`${expression.callee.id}()`);
        for (const { value } of expression.args)
          for (const one of value.kind === 'list' ? value.items : [value]) into(one);
        return;
      case 'attribute':
        intoAll(`.${expression.name}`);
        into(expression.object);
        return;
      case 'item':
        if (REVERSED.test(showPlace(expression.key)) && this.#isText(expression.object, scope))
          found.add('decoded');
        if (expression.object.kind === 'name') intoAll(`${expression.object.id}[]`);
        into(expression.object);
        return;
      case 'slice':
        into(expression.object);
        return;
      case 'binary':
      case 'boolean':
        into(expression.left);
        into(expression.right);
        return;
      case 'conditional':
        into(expression.value);
        into(expression.otherwise);
        return;
      case 'format':
        for (const part of expression.parts) if (typeof part !== 'string') into(part);
        return;
      case 'list':
      case 'tuple':
      case 'set':
        if (!this.#skipsLists) for (const item of expression.items) into(item);
        return;
      case 'dict':
        for (const entry of expression.entries) into(entry.value);
        return;
      case 'comprehension':
        into(expression.value);
        for (const clause of expression.clauses) into(clause.iterable);
        return;
      case 'spread':
        into(expression.value);
        return;
      case 'lambda':
        into(expression.body);
        return;
      default:
        return;
    }
  }

  #call(expression: Expression & { kind: 'call' }, found: Set<Origin>): void {
    const name = this.facts.nameOf(expression.callee);
    if (NETWORK.test(name)) found.add('network');
    if (DECODERS.test(name) && !isPlainCodec(name, expression)) found.add('decoded');
    if (
      (OPENERS.test(name) || name === 'pathlib.Path') &&
      expression.args[0] &&
      this.isDownloaded(expression.args[0].value)
    )
      found.add('downloaded');
    if (name.startsWith('huggingface_hub.') && name.endsWith('_download')) found.add('downloaded');
    const { callee, args } = expression;
    const first = args[0]?.value;
    // `bytes([112, 114])` spells a text out in numbers, as `''.join(chr(n) for n in …)` does.
    const given = first?.kind === 'call' ? this.facts.nameOf(first.callee) : (first?.kind ?? '');
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

/** `codecs.decode(x, 'utf-8')` hides nothing. */
function isPlainCodec(name: string, expression: Expression & { kind: 'call' }): boolean {
  if (!name.startsWith('codecs.')) return false;
  const codec = expression.args[name === 'codecs.decode' ? 1 : 0];
  const text = codec && getPlainText(codec.value);
  return text === undefined ? !codec : /^(?:utf|ascii|latin|cp)/i.test(text);
}
