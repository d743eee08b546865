import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { spawn } from '@lydell/node-pty';
import xterm from '@xterm/headless';

const [COLUMNS, ROWS] = [90, 60];
/** Pixels of one character. */
const CELL = { width: 8.4, height: 18 };
const PADDING = 16;
/** The colours 0 to 15 of a terminal. */
const COLORS = [
  ...['#484f58', '#ff7b72', '#3fb950', '#d29922', '#58a6ff', '#bc8cff', '#39c5cf', '#b1bac4'],
  ...['#6e7681', '#ffa198', '#56d364', '#e3b341', '#79c0ff', '#d2a8ff', '#56d4dd', '#ffffff'],
];
const [FOREGROUND, BACKGROUND] = ['#c9d1d9', '#0d1117'];

type Cell = ReturnType<NonNullable<ReturnType<xterm.Terminal['buffer']['active']['getLine']>>['getCell']>;

/** What a recording shows. Commands are shell commands. */
interface Recording {
  readonly path: string;
  readonly commands: readonly string[];
  /** Commands before them that are not shown. */
  readonly unseen?: readonly string[];
  readonly cwd?: string;
}

/** Runs commands with the built program in a terminal with an empty home, and writes what it shows at the end as SVG. */
export async function recordTerminal({ path, commands, unseen = [], cwd = '.' }: Recording): Promise<void> {
  const home = mkdtempSync(join(tmpdir(), 'regen-home-'));
  const terminal = new xterm.Terminal({ cols: COLUMNS, rows: ROWS, allowProposedApi: true });
  const write = (text: string) => new Promise<void>((done) => terminal.write(text, done));
  for (const command of unseen) await runInTerminal(command, home, cwd);
  for (const command of commands) {
    await write(`\x1b[32m$\x1b[0m ${command}\r\n`);
    const text = await runInTerminal(command, home, cwd);
    // Wherever the service is in this run, it is usually on its own port.
    await write(text.replaceAll(home, '~').replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:7717'));
  }
  await runInTerminal('regen serve stop', home, cwd);
  rmSync(home, { recursive: true, force: true });
  writeFileSync(path, drawTerminal(terminal));
}

function runInTerminal(command: string, home: string, cwd: string): Promise<string> {
  const env = { PATH: process.env.PATH, HOME: home, TERM: 'xterm-256color', COLORTERM: 'truecolor' };
  const script = `regen() { '${process.execPath}' '${resolve('bin/regen.js')}' "$@"; }; ${command}`;
  const program = spawn('/bin/sh', ['-c', script], { cols: COLUMNS, rows: ROWS, cwd, env });
  let text = '';
  program.onData((data) => {
    text += data;
  });
  return new Promise((done) => program.onExit(() => done(text)));
}

function drawTerminal({ buffer: { active } }: xterm.Terminal): string {
  const lines = Array.from({ length: active.cursorY + 1 }, (_, row) => drawLine(active, row)).filter(
    (line, row, all) => line !== '' || row < all.length - 1,
  );
  const [width, height] = [
    COLUMNS * CELL.width + 2 * PADDING,
    (lines.length + 0.5) * CELL.height + 2 * PADDING,
  ];
  const texts = lines.map(
    (line, row) => `<text y="${Math.round(PADDING + (row + 0.8) * CELL.height)}">${line}</text>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}">
<rect width="100%" height="100%" rx="8" fill="${BACKGROUND}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, monospace" font-size="14" fill="${FOREGROUND}">
${texts.join('\n')}
</g>
</svg>
`;
}

function drawLine(buffer: xterm.Terminal['buffer']['active'], row: number): string {
  const line = buffer.getLine(buffer.baseY + row);
  const cells = Array.from({ length: COLUMNS }, (_, column) => line?.getCell(column));
  const last = cells.findLastIndex((cell) => (cell?.getChars() ?? '').trim() !== '');
  const spans: { style: string; text: string; column: number }[] = [];
  for (const [column, cell] of cells.slice(0, last + 1).entries()) {
    const style = describeStyle(cell);
    const text = cell?.getChars() || ' ';
    const open = spans.at(-1);
    // What follows two spaces is placed by itself: spaces collapse, and fonts differ.
    if (open?.style === style && !(text !== ' ' && open.text.endsWith('  '))) open.text += text;
    else spans.push({ style, text, column });
  }
  return spans
    .filter(({ text }) => text.trim() !== '')
    .map(({ style, text, column }) => {
      const x = PADDING + (column + text.length - text.trimStart().length) * CELL.width;
      return `<tspan x="${Math.round(x * 10) / 10}"${style}>${escapeXml(text.trim())}</tspan>`;
    })
    .join('');
}

function describeStyle(cell: Cell): string {
  if (!cell) return '';
  const color = cell.isFgPalette() ? COLORS[cell.getFgColor()] : undefined;
  return [
    color === undefined ? '' : ` fill="${color}"`,
    cell.isBold() ? ' font-weight="bold"' : '',
    cell.isDim() ? ' opacity="0.7"' : '',
  ].join('');
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
