import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { contract } from '../src/contract/index.js';
import { listOperations } from '../src/contract/operation.js';

const files = readdirSync('src', { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => join('src', path));

interface Import {
  readonly from: string;
  readonly to: string;
  readonly isDynamic: boolean;
}

/** Type imports count: a file whose types need another one cannot be understood without it. */
const imports = files.flatMap(readImports);

function readImports(from: string): Import[] {
  const text = readFileSync(from, 'utf8');
  const fixed = /^(?:import|export)\s+(?:[^'";]*?from\s+)?'([^']+)'/gm;
  const dynamic = /\bimport\(\s*'([^']+)',?\s*\)/g;
  return [
    ...Array.from(text.matchAll(fixed), ([, to]) => toImport(from, to as string, false)),
    ...Array.from(text.matchAll(dynamic), ([, to]) => toImport(from, to as string, true)),
  ];
}

function toImport(from: string, to: string, isDynamic: boolean): Import {
  const target = to.startsWith('.') ? relative('.', resolve(dirname(from), to)).replace(/\.js$/, '.ts') : to;
  return { from, to: target, isDynamic };
}

const isOurs = ({ to }: Import) => to.startsWith('src/');

/** The part of a path below `folder` that names a room: a folder, or a file of its own. */
function roomBelow(folder: string, path: string): string | undefined {
  return path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/')[0] : undefined;
}

describe('the rooms of src', () => {
  /** Who may import whom. */
  const allowed: Record<string, readonly string[]> = {
    contract: [],
    wire: ['contract'],
    disk: ['wire'],
    client: ['contract', 'wire'],
    pack: ['contract', 'wire', 'disk'],
    python: ['contract', 'pack', 'disk'],
    flows: ['contract', 'wire', 'disk', 'client', 'pack', 'python'],
    library: ['contract', 'wire', 'disk', 'client', 'pack', 'python', 'flows'],
    preview: ['contract', 'disk'],
    cli: ['contract', 'wire', 'disk', 'client', 'pack', 'python', 'flows', 'service'],
    service: ['contract', 'wire', 'pack', 'python', 'preview', 'disk'],
  };
  const room = (path: string) => roomBelow('src', path) as string;

  test('match the table', () => {
    expect(readdirSync('src').sort()).toEqual(Object.keys(allowed).sort());
  });

  test('import only the rooms that their row of the table names', () => {
    const wrong = imports.filter(isOurs).filter(({ from, to }) => {
      return room(from) !== room(to) && !allowed[room(from)]?.includes(room(to));
    });
    expect(wrong).toEqual([]);
  });

  /**
   * How many lines each room may have, apart from generated files. Raised only together with the reason: what users got
   * for the lines.
   */
  const mostLines: Record<string, number> = {
    // Descriptions of operations: trusts, statements, tasks, sign-in to pages, public changes, limits of keys, tools; why a
    // task failed, and what is only previewed; why a list is not complete, the secrets that still sign, flags and positionals in messages, and what an API
    // key can use.
    contract: 5_810,
    // Addresses of engines that an operator names, the port that is written once, and the protocol of agents;
    // tokens that no message and no log shows.
    wire: 745,
    // Files that are no images are known before they are sent.
    // Outputs of a script around it.
    disk: 1_200,
    // How another service writes requests and answers is in one place here; input that programs without types leave out.
    client: 2_360,
    // Unpacking into a host in windows of 64 kB, scaffolding, and packing the source of a version to compare it; keys of a
    // manifest that nothing reads; output that is redirected into the folder.
    pack: 3_465,
    // Names that are set on a class; Python that certainly is not valid, with its line.
    python: 7_060,
    // Installing, locking and auditing packs, with what happened to a pinned version since; checking workflows, with
    // placeholders and links to nothing; verifying what a service signed. What a resumed command still costs; the tasks of an
    // API key. Checking against what is locked, and what it keeps whole; what is in place although the lock file has another version.
    // Older versions that fit, programs that go on under another key, and tasks that another credential started.
    flows: 5_940,
    // Input that programs without types leave out.
    library: 246,
    preview: 1_790,
    // Commands for all of these, answers as cards, tools for agents, and scripts with a budget. Batches that show their
    // price first and notice lines that changed; trouble of engines in doctor; checks that say what a publish refuses; secrets in
    // private files. The registry of a lock file, with the credential of its address alone; steps to a new major version;
    // flagged versions that admins download and verify; what was changed in the audit log of a narrow terminal, and what listening
    // skipped; tokens that were typed are in no message; checks that know what is published. What is left to pay of a command,
    // prices in dry runs, and images that were replaced under their names. Archives that are fetched ahead by range,
    // and whether an uplink answers. What continues after a lost response, how long a busy service is waited for, and what is
    // around a token. What agents read, in the names of their tools.
    // What is locked and was withdrawn, and an address that another service has now.
    // Own versions that only a publishing token shows, and what an interrupted run leaves to pay.
    cli: 21_710,
    // ComfyUI and vendors as data, trusted publishing, statements, staging, rules of an uplink, pages, the feed; what makes
    // images and what keeps it from doing so, the nearest setting and recording; backups that notice damage; lists of what is
    // kept while an uplink gives none, and why it does not; which tools an API key can use, and temporary folders that go with their process.
    service: 26_090,
  };

  test('have no more lines than what they do is worth', () => {
    const lines = new Map<string, number>();
    for (const file of files.filter((path) => !path.endsWith('.generated.ts'))) {
      const own = readFileSync(file, 'utf8').split('\n').length - 1;
      lines.set(room(file), (lines.get(room(file)) ?? 0) + own);
    }
    expect(Object.keys(mostLines).sort()).toEqual([...lines.keys()].sort());
    const over = [...lines].filter(([name, count]) => count > (mostLines[name] as number));
    expect(over).toEqual([]);
  });

  test('include a contract that imports only zod', () => {
    const wrong = imports.filter((one) => room(one.from) === 'contract' && !isOurs(one) && one.to !== 'zod');
    expect(wrong).toEqual([]);
  });

  test('include a command line that loads the service only in serve commands', () => {
    const bridges = imports.filter(({ from, to }) => room(from) === 'cli' && room(to) === 'service');
    for (const { from, to, isDynamic } of bridges) {
      expect(from).toMatch(/^src\/cli\/commands\/serve[a-z-]*\.ts$/);
      expect([to, isDynamic]).toEqual(['src/service/index.ts', true]);
    }
    const loading = files.filter((path) =>
      /(?<!typeof )\bimport\('[./]+service\/index\.js'\)(?!\.)/.test(readFileSync(path, 'utf8')),
    );
    expect(loading).toEqual(['src/cli/commands/serve.ts']);
  });
});

describe.each([
  [
    'src/service',
    [
      ['network', 'database'],
      ['configuration'],
      ['queue', 'storage'],
      ['operation'],
      ['auth', 'webhooks', 'engines'],
      ['registry', 'generation'],
      ['pages'],
      ['jobs', 'http'],
      ['maintenance'],
      ['serve.ts'],
      ['index.ts'],
    ],
    17,
  ],
  [
    'src/cli',
    [
      ['terminal'],
      ['command'],
      ['connect'],
      ['views', 'sign-in'],
      ['generation'],
      ['api', 'batch', 'completion', 'doctor', 'publish', 'webhooks', 'workflow'],
      ['agents'],
      ['commands'],
      ['complete-commands.ts'],
      ['run-command.ts'],
      ['main.ts', 'command-tree.ts'],
    ],
    20,
  ],
] as const)('the floors of %s', (folder, floors, most) => {
  const findFloor = (path: string) => {
    const room = roomBelow(folder, path) as string;
    return floors.findIndex((rooms) => (rooms as readonly string[]).includes(room));
  };

  test('contain every file', () => {
    const entries = readdirSync(folder);
    expect(entries.filter((entry) => findFloor(`${folder}/${entry}`) < 0)).toEqual([]);
    expect(entries.length).toBeLessThanOrEqual(most);
  });

  test('import only what lies on a floor below', () => {
    const within = imports.filter(({ from, to }) => roomBelow(folder, from) && roomBelow(folder, to));
    const wrong = within.filter(({ from, to }) => {
      return roomBelow(folder, from) !== roomBelow(folder, to) && findFloor(to) >= findFloor(from);
    });
    expect(wrong).toEqual([]);
  });
});

test('no files import each other in a circle', () => {
  const next = new Map<string, string[]>();
  for (const { from, to } of imports.filter(isOurs)) next.set(from, [...(next.get(from) ?? []), to]);
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (file: string, path: readonly string[]) => {
    if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' → '));
    if (done.has(file) || path.includes(file)) return;
    for (const target of next.get(file) ?? []) visit(target, [...path, file]);
    done.add(file);
  };
  for (const file of files) visit(file, []);
  expect(circles).toEqual([]);
});

test('no two folders import each other', () => {
  const ways = new Map<string, string>();
  for (const { from, to } of imports.filter(isOurs)) {
    if (dirname(from) !== dirname(to)) ways.set(`${dirname(from)} ${dirname(to)}`, `${from} → ${to}`);
  }
  const twoWay = [...ways].filter(([way]) => ways.has(way.split(' ').reverse().join(' ')));
  expect(twoWay.map(([, example]) => example)).toEqual([]);
});

test('nothing is exported by default', () => {
  expect(files.filter((file) => /^export default/m.test(readFileSync(file, 'utf8')))).toEqual([]);
});

test('only the contract and the two package entries pass on what others export', () => {
  const barrels = files.filter((file) => /^export .*\bfrom '/m.test(readFileSync(file, 'utf8')));
  expect(barrels).toEqual(expect.arrayContaining(['src/library/index.ts', 'src/service/index.ts']));
  expect(barrels.filter((file) => !/^src\/(contract|library|service)\/index\.ts$/.test(file))).toEqual([]);
});

const homes: readonly { readonly what: string; readonly found: RegExp; readonly at: RegExp }[] = [
  { what: 'commander', found: /from 'commander'/, at: /^src\/cli\/command\/program\.ts$/ },
  {
    what: 'ora, chalk or inquirer',
    found: /['"](ora|chalk|@inquirer\/prompts)['"]/,
    at: /^src\/cli\/terminal\/[a-z-]+\.ts$/,
  },
  {
    // Its guard holds for connections that are opened there.
    what: 'undici, but for its types,',
    found: /^import (?!type\b)[^;]*'undici\b|\bimport\('undici\b|\brequire\('undici\b/m,
    at: /^src\/wire\/undici\.ts$/,
  },
  {
    // undici too, as Node brings it: without the guard.
    what: 'the global fetch, or what calls it,',
    found: /(?<![\w#])fetch\(|\bglobalThis\.fetch\b|\b(?:EventSource|WebSocket|createRemoteJWKSet)\b/,
    at: /^$/,
  },
  {
    what: 'another HTTP client',
    found: /\bfrom 'node:(?:https|http2)'|^import (?!type\b)[^;]*\b(?:request|get)\b[^;]*'node:http'/m,
    at: /^$/,
  },
  { what: 'the console', found: /\bconsole\./, at: /^$/ },
  {
    // Nothing that reads a folder starts a program: git obeys the configuration of the checkout. What fetches a source
    // starts it in a new folder, without any configuration.
    what: 'child_process',
    found:
      /(?:from |\bimport ?\(|\b(?:require|getBuiltinModule)\()\s*['"](?:node:)?(?:child_process|cluster)['"]/,
    at: /^src\/(cli\/(completion\/live|connect\/start-local|sign-in\/opener|terminal\/(child-program|keychain-process|pager|run-program))|disk\/limited-child|pack\/git-fetch)\.ts$/,
  },
  {
    // A folder may be another person's work, and a pipe or a device in it never ends: disk/folder-file opens its files.
    // These read what regen itself wrote or installed, or open a new file.
    what: 'opening files by path',
    found:
      /import (?!type)[^;]*\b(?:readFile|readFileSync|createReadStream|open|openSync|openAsBlob|copyFile|copyFileSync|cp|cpSync)\b[^;]*from 'node:fs(?:\/promises)?'/,
    at: /^src\/(?!pack|python|flows|cli)|^src\/(pack\/read-archive|python\/(definitions\/grammar|reader-child)|flows\/(digest|publish\/upload|tasks\/destination)|cli\/(batch\/(jobs-file|journal)|command\/secret-file|commands\/(completion|serve-control)|completion\/answer|connect\/start-local|terminal\/keychain-process|views\/tree|webhooks\/inbox))\.ts$/,
  },
  {
    // It creates its file later, even after a failure has removed it. Whole folders are removed after these.
    what: 'a stream into a path',
    found: /import (?!type)[^;]*\bcreateWriteStream\b[^;]*from 'node:fs'/,
    at: /^src\/(cli\/batch\/jobs-file|flows\/publish\/published|service\/(engines\/cassette|maintenance\/store-folder))\.ts$/,
  },
  {
    what: 'process',
    found: /(?<![-\w])process\.(?!platform\b)/,
    at: /^src\/(cli\/terminal\/system|service\/serve|service\/(storage|database)\/[a-z-]+|disk\/[a-z-]+|python\/reader|pack\/git)\.ts$/,
  },
  {
    what: 'the clock',
    found: /\bDate\.now\b|\bnew Date\(\)/,
    at: /^src\/(cli\/terminal\/system|service\/serve|service\/database\/clock|disk\/[a-z-]+|client\/[a-z-]+)\.ts$/,
  },
];

test.each(homes)('$what is used only where it belongs', ({ found, at }) => {
  const elsewhere = files.filter(
    (file) => !at.test(file) && found.test(withoutComments(readFileSync(file, 'utf8'))),
  );
  expect(elsewhere).toEqual([]);
});

describe('the names of operations', () => {
  const names = new Set(Array.from(listOperations(contract), ([name]) => name));
  /** Commands and pages are written for operations; the contract declares them, and its types are generated. */
  const places =
    /^src\/(contract\/[a-z-]+|cli\/(views|commands)\/[a-z-]+|service\/pages\/[a-z-]+|library\/api\.generated)\.ts$/;

  /** The lines of a file that name an operation other than as a type, a key of a table, or what is called or recorded. */
  function listNamed(file: string): string[] {
    const lines = withoutComments(readFileSync(file, 'utf8')).split('\n');
    return lines.filter((line) => {
      const rest = line
        .replace(/<'[\w.]+'(?: \| '[\w.]+')*[,>]/g, '<>')
        .replace(/^\s*'[\w.]+': .*$|'[\w.]+': /g, '')
        .replace(/\baction(?:: |', '=', )'[\w.]+'/g, '')
        .replace(/\brequestRemote\(context, '[\w.]+'/g, '')
        .replace(/\bread\('[\w.]+'/g, '');
      return Array.from(rest.matchAll(/'(\w+\.[\w.]+)'/g)).some(([, name]) => names.has(name as string));
    });
  }

  test('are in declarations, tables of handlers and commands only: other code asks for facts', () => {
    const named = files.filter((file) => !places.test(file)).flatMap((file) => listNamed(file));
    expect(named).toEqual([]);
  });
});

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/^\s*\/\/.*$/gm, '');
}
