import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { Language, type Node, Parser } from 'web-tree-sitter';

/** The module that the build copies beside the bundle. Run from sources, it is found in node_modules. */
export const GRAMMAR_MODULE = '@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm';

function locateGrammar(): string {
  const path = fileURLToPath(new URL('./tree-sitter-python.wasm', import.meta.url));
  return existsSync(path) ? path : createRequire(import.meta.url).resolve(GRAMMAR_MODULE);
}

let parser: Promise<Parser> | undefined;

// The types of the language leave it to those of browsers, which are not here.
const { Memory } = (
  globalThis as unknown as {
    WebAssembly: { Memory: new (pages: { initial: number; maximum: number }) => object };
  }
).WebAssembly;

/** What the parser may take at most, outside of JavaScript's own memory; the largest published file takes a third. */
const PARSER_PAGES = (96 * 1024) / 64;

async function loadParser(): Promise<Parser> {
  await Parser.init({
    wasmMemory: new Memory({ initial: 512, maximum: PARSER_PAGES }),
    // The parser prints that it aborted; the exception says the same.
    printErr: () => {},
  });
  const loaded = new Parser();
  loaded.setLanguage(await Language.load(readFileSync(locateGrammar())));
  return loaded;
}

/** How often the parser may report progress within a file (about 100 steps each) before we give it up as hostile. */
const MAX_PROGRESS = 200_000;

/**
 * Parses Python. The tree lives only while `use` runs; undefined when the text takes unreasonably long to parse. Where it
 * takes unreasonable memory the parser throws and is spent: hostile code is read in a process of its own.
 */
export type ParsePython = <Result>(text: string, use: (root: Node) => Result) => Result | undefined;

/** Loads the grammar once (about 10 ms); the function it gives is synchronous. */
export async function loadPythonParser(): Promise<ParsePython> {
  parser ??= loadParser();
  const python = await parser;
  return (text, use) => {
    let reports = 0;
    const tree = python.parse(text, null, { progressCallback: () => ++reports > MAX_PROGRESS });
    if (!tree) {
      python.reset();
      return undefined;
    }
    try {
      return use(tree.rootNode);
    } finally {
      tree.delete();
    }
  };
}
