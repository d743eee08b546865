import { stripVTControlCharacters } from 'node:util';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';
import { onTestFinished } from 'vitest';
import { entry, homeForTest } from './cli.js';

export interface TerminalOptions {
  readonly env?: Record<string, string>;
  readonly home?: string;
  readonly cwd?: string;
  readonly columns?: number;
}

/** A program in a real pseudo-terminal, and the person in front of it. */
export interface Terminal {
  /** Sends keys as they are: `\r` is Enter, `\x03` Ctrl-C, `\t` Tab. */
  type(keys: string): void;
  /** Waits until the screen showed something, counting from the last time this was asked. */
  shows(text: string): Promise<void>;
  /** Sends a signal to the program. */
  kill(signal: NodeJS.Signals): void;
  /** Changes the width. */
  resize(columns: number): void;
  /** Everything that was written, without what moves the cursor or colours. */
  screen(): string;
  /** What the terminal shows, with what scrolled out of sight. */
  lines(): Promise<ScreenLine[]>;
  /** Everything that was written, byte for byte. */
  raw(): string;
  readonly exit: Promise<number>;
}

/** Kinds of terminals, by what their environments say. */
export const SCREENS: Readonly<Record<string, Record<string, string>>> = {
  terminal: { TERM: 'xterm-256color' },
  'dumb terminal': { TERM: 'dumb' },
  'terminal without Unicode': { TERM: 'xterm-256color', LC_ALL: 'C' },
  'screen reader': { TERM: 'xterm-256color', REGEN_ACCESSIBLE: '1' },
};

export const SCREEN_SIZES = [40, 80, 140].flatMap((columns) =>
  Object.keys(SCREENS).map((screen) => [screen, columns] as const),
);

/** A line as it was written, which a terminal may show as several. */
interface ScreenLine {
  readonly text: string;
  /** The terminal had to wrap it, although it could have been wrapped between words. */
  readonly isTooWide: boolean;
}

async function drawScreen(raw: string, cols: number): Promise<ScreenLine[]> {
  const terminal = new xterm.Terminal({ cols, rows: 40, scrollback: 10_000, allowProposedApi: true });
  await new Promise<void>((done) => terminal.write(raw, done));
  const { active } = terminal.buffer;
  const lines: ScreenLine[] = [];
  for (let row = 0; row < active.length; row++) {
    const line = active.getLine(row);
    const text = line?.translateToString(true) ?? '';
    const before = line?.isWrapped ? lines.pop() : undefined;
    const whole = (before?.text ?? '') + text;
    lines.push({ text: whole, isTooWide: before !== undefined && /\S\s+\S/.test(whole.trim()) });
  }
  terminal.dispose();
  return lines;
}

/** Ends a wait that hangs, and nothing else. */
const HANGS_MS = 150_000;

/** The built command line in a terminal of its own. */
export function startRegenInTerminal(argv: readonly string[], options: TerminalOptions = {}): Terminal {
  return startInTerminal(process.execPath, [entry, ...argv], options);
}

/** Any program in a terminal; it is ended with the test. */
export function startInTerminal(
  file: string,
  args: readonly string[],
  options: TerminalOptions = {},
): Terminal {
  const { env = {}, home = homeForTest(), cwd = process.cwd(), columns = 100 } = options;
  const pty = spawn(file, [...args], {
    name: env.TERM ?? 'xterm-256color',
    cols: columns,
    rows: 40,
    cwd,
    env: { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', REGEN_NO_AUTOSTART: '1', ...env },
  });
  let raw = '';
  let seen = 0;
  let ended = false;
  const listeners = new Set<() => void>();
  const tell = () => {
    for (const listener of listeners) listener();
  };
  pty.onData((data) => {
    raw += data;
    tell();
  });
  const exit = new Promise<number>((done) => {
    pty.onExit(({ exitCode }) => {
      ended = true;
      tell();
      done(exitCode);
    });
  });
  onTestFinished(() => {
    if (!ended) pty.kill('SIGKILL');
  });
  const screen = () => stripVTControlCharacters(raw);

  const shows = (text: string) =>
    new Promise<void>((done, fail) => {
      const end = (outcome: () => void) => {
        clearTimeout(timer);
        listeners.delete(look);
        outcome();
      };
      const miss = (why: string) => end(() => fail(new Error(`${why} "${text}" was shown:\n${screen()}`)));
      const look = () => {
        const at = screen().indexOf(text, seen);
        if (at < 0) return ended && miss('It ended before');
        seen = at + text.length;
        end(done);
      };
      const timer = setTimeout(() => miss('It hung before'), HANGS_MS);
      listeners.add(look);
      look();
    });

  const resize = (width: number) => pty.resize(width, 40);
  const lines = () => drawScreen(raw, columns);
  const kill = (signal: NodeJS.Signals) => pty.kill(signal);
  return { type: (keys) => pty.write(keys), kill, resize, shows, screen, lines, raw: () => raw, exit };
}
