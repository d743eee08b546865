import { readFileSync } from 'node:fs';

export const readLibraryPage = () => readFileSync('docs/library.md', 'utf8');

/** The program that the guide to the library shows. */
export function readLibraryProgram(): string {
  return /```ts\n([\s\S]*?)```/.exec(readLibraryPage())?.[1] as string;
}

/** Oldest Nodes do not run TypeScript. */
export function stripTypes(text: string): string {
  return text.replace(/\btype \w+, /g, '').replace(/(const \w+): \w+/g, '$1');
}
