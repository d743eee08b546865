import { execFile } from 'node:child_process';

/** A command of a transcript, the exit code it promises, and what it shows. */
export interface Scene {
  readonly command: string;
  readonly exit: number;
  readonly shows: string;
}

const transcript = /(<!-- transcript -->\n```console\n)([\s\S]*?)(```)/;

/** Reads `$ npx regen … # exit 5` and the lines below each, out of a Markdown page. */
export function readScenes(page: string): Scene[] {
  const block = transcript.exec(page)?.[2] ?? '';
  return block
    .split(/^\$ npx regen /m)
    .slice(1)
    .map((part) => {
      const [first = '', ...rest] = part.split('\n');
      const [command = '', exit = '0'] = first.split(/\s+# exit /);
      return { command, exit: Number(exit), shows: rest.join('\n') };
    });
}

/** The page with other scenes in its transcript. */
export function replaceScenes(page: string, scenes: readonly Scene[]): string {
  const lines = scenes.map(
    ({ command, exit, shows }) => `$ npx regen ${command}${exit === 0 ? '' : ` # exit ${exit}`}\n${shows}`,
  );
  return page.replace(transcript, (_, start: string, __, end: string) => `${start}${lines.join('')}${end}`);
}

/** What differs from run to run, made the same. Digests of archives do not. */
export function normalizeOutput(text: string, home: string): string {
  return text
    .replaceAll(home, '~')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'http://127.0.0.1:7717')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g, '2026-01-31T12:00:00.000Z')
    .replace(
      /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g,
      '0b5f3c1e-8d7a-4e52-9c1f-2a6b7d8e9f00',
    );
}

/** Runs a command line in a shell, both streams as one, as a person sees them. */
export function runInShell(
  commandLine: string,
  env: NodeJS.ProcessEnv,
): Promise<{ exit: number; text: string }> {
  return new Promise((done) => {
    execFile('sh', ['-c', `${commandLine} 2>&1`], { env }, (error, text) => {
      done({ exit: error ? Number(error.code) : 0, text });
    });
  });
}
