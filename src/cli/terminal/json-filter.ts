import { createRequire } from 'node:module';
import { usage } from './failure.js';
import { keepExitCode } from './system.js';

/** Applies the expression of `--jq` to a value, and returns the printed results. */
export type JsonFilter = (value: unknown, indented: boolean) => string;

interface Jq {
  /** @returns undefined without a result @throws Error with the exit code and the messages of jq */
  raw(json: string, filter: string, flags: readonly string[]): string | undefined;
}

/**
 * Loads jq, and checks an expression before anything is sent.
 * @throws Failure if it cannot be compiled
 */
export async function openJsonFilter(expression: string): Promise<JsonFilter> {
  // The module is a promise, which `import` would wrap.
  const require = createRequire(import.meta.url);
  const jq: Jq = await require('jq-web');
  const apply = (json: string, filter: string, flags: readonly string[]) => {
    try {
      return keepExitCode(() => jq.raw(json, filter, flags)) ?? '';
    } catch (error) {
      throw usage(`--jq: ${toSentence(error as Error)}`, 'See the manual: https://jqlang.org/manual/');
    }
  };
  // Without a value, it is compiled but not run.
  apply('', expression, []);
  return (value, indented) =>
    apply(JSON.stringify(value ?? {}), expression, indented ? ['-r'] : ['-r', '-c']);
}

/** The first line of jq's errors says what is wrong. */
function toSentence({ message }: Error): string {
  const line = message.split('\n').find((one) => one.startsWith('jq: error')) ?? message;
  return `${line
    .replace(/^jq: error:? ?(?:\(at [^)]*\): )?/, '')
    .replace(/ \(Unix shell quoting issues\?\)/, '')
    .trimEnd()
    .replace(/[.,:]$/, '')}.`;
}
