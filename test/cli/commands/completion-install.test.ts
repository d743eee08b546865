import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { homeForTest, regen } from '../../support/cli.js';

it.each([
  ['bash', '/bin/bash', '.bashrc'],
  ['zsh', '/usr/bin/zsh', '.zshrc'],
  ['fish', '/usr/bin/fish', '.config/fish/config.fish'],
  ['powershell', '/usr/bin/pwsh', '.config/powershell/Microsoft.PowerShell_profile.ps1'],
])('adds one line to the startup file of %s, once', async (shell, program, file) => {
  const home = homeForTest();
  const env = { SHELL: program };
  const path = join(home, file);
  const dry = await regen(['completion', 'install', '--dry-run', '--json'], { home, env });
  expect(JSON.parse(dry.stdout)).toMatchObject({ shell, path });
  const { line } = JSON.parse(dry.stdout) as { line: string };
  expect(line).toContain(`regen completion ${shell}`);
  expect(() => readFileSync(path)).toThrow();
  const first = await regen(['completion', 'install'], { home, env });
  expect([first.exit, first.stdout]).toEqual([0, `${path}\n`]);
  const text = readFileSync(path, 'utf8');
  expect(text.split('\n')).toContain(line);
  const again = await regen(['completion', 'install', shell], { home, env: { SHELL: '' } });
  expect(again.stderr).toContain('already');
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it('keeps what a startup file has, also if it is a link and its last line does not end', async () => {
  const home = homeForTest();
  mkdirSync(join(home, 'dotfiles'));
  writeFileSync(join(home, 'dotfiles', 'bashrc'), 'alias ll="ls -l"');
  symlinkSync(join(home, 'dotfiles', 'bashrc'), join(home, '.bashrc'));
  await regen(['completion', 'install', 'bash'], { home });
  const text = readFileSync(join(home, 'dotfiles', 'bashrc'), 'utf8');
  expect(text).toMatch(/^alias ll="ls -l"\n\n# Completion of regen\n.*\n$/);
});

it('asks for the name of a shell that it does not know', async () => {
  const unknown = await regen(['completion', 'install'], { env: { SHELL: '/bin/tcsh' } });
  expect([unknown.exit, unknown.stderr]).toEqual([2, expect.stringContaining('bash, zsh, fish, powershell')]);
  expect((await regen(['completion', 'install', '__proto__'])).exit).toBe(2);
});
