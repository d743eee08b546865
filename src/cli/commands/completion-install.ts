import { appendFileSync, mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';
import { findStartup, SHELLS } from '../completion/startup.js';
import type { Needs } from '../connect/context.js';
import { usage } from '../terminal/failure.js';
import { Text } from '../views/answers.js';
import type { View } from '../views/view.js';

type Context = Needs<'args' | 'flags' | 'system' | 'output'>;

export const view = (): View => ({
  usage: 'completion install [shell]',
  local: true,
  summary: "Turn on completion in your shell, with one line in the shell's startup file",
  explain: { shell: 'bash, zsh, fish or powershell (default: the shell in use)' },
  flags: { '--dry-run': 'Print the line and its file, and change nothing' },
  examples: ['regen completion install', 'regen completion install zsh --dry-run'],
  answer: z.object({ shell: Text, path: Text, line: Text }),
});

export async function run({ args, flags, system, output }: Context): Promise<void> {
  const given = args.shell as string | undefined;
  const startup = findStartup(system, given);
  if (!startup)
    throw usage(
      given === undefined ? 'The shell in use is not known.' : `There is no completion for '${given}'.`,
      `Name it: ${SHELLS.join(', ')}.`,
    );
  const { shell, path, line, text, isOn } = startup;
  if (!isOn && !flags['dry-run']) {
    mkdirSync(dirname(path), { recursive: true });
    appendFileSync(
      path,
      `${text === '' || text.endsWith('\n') ? '' : '\n'}\n# Completion of regen\n${line}\n`,
    );
  }
  await output.answer({ shell, path, line }, system.stdout.isTTY ? {} : { only: 'path' });
  if (flags['dry-run']) return output.note(isOn ? 'The line is already there.' : 'Nothing was changed.');
  await output.note(
    isOn
      ? `Completion was already on in ${path}.`
      : `Added a line to ${path}. Open a new terminal to use it.`,
  );
}
