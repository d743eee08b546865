import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { chooseOpener } from '../../../src/cli/sign-in/opener.js';
import { choosePager, showInPager } from '../../../src/cli/terminal/pager.js';
import { findProgram, removeSecrets, splitCommand } from '../../../src/cli/terminal/programs.js';
import { folderForTest } from '../../support/service.js';

const windows = { platform: 'win32' as const, cwd: 'C:\\Users\\ann\\hostile' };
const PATH = '.;C:\\tools;D:\\bin';
const isInTools = (path: string) => /^C:\\(tools|Windows)\\/.test(path);
const findInTools: typeof findProgram = (name, machine) => findProgram(name, machine, isInTools);
const findEverywhere: typeof findProgram = (name, machine) => findProgram(name, machine, () => true);

test('on Windows a pager is one of PATH, by its whole path, and none of the current folder', () => {
  const env = { PATH, PAGER: '' };
  expect(choosePager({ ...windows, env: { PATH, PAGER: 'less -R' } }, findInTools)).toEqual([
    'C:\\tools\\less.exe',
    '-R',
  ]);
  expect(choosePager({ ...windows, env: { PATH: '.;;bin', PAGER: 'less' } }, findEverywhere)).toEqual([]);
  expect(choosePager({ ...windows, env: { PATH, PAGER: '.\\less.exe' } }, findEverywhere)).toEqual([]);
  expect(choosePager({ ...windows, env }, findEverywhere)).toEqual([]);
});

test('on Windows a browser is started by a program of the system, or by one of PATH', () => {
  const url = 'https://id.example/authorize?a=1&b=%20';
  expect(chooseOpener({ ...windows, env: { PATH, SYSTEMROOT: 'C:\\Windows' } }, url)).toEqual([
    'C:\\Windows\\System32\\rundll32.exe',
    'url.dll,FileProtocolHandler',
    url,
  ]);
  const chosen = chooseOpener(
    { ...windows, env: { PATH, BROWSER: '"my browser" --new %s' } },
    url,
    findInTools,
  );
  expect(chosen).toEqual(['C:\\tools\\my browser.exe', '--new', url]);
});

test('nothing but web addresses and files is opened', () => {
  const system = { platform: 'linux' as const, env: { PATH: '/usr/bin' } };
  const choose = (address: string) => chooseOpener(system, address, findEverywhere);
  expect(choose('https://id.example/')).toEqual(['/usr/bin/xdg-open', 'https://id.example/']);
  expect(choose('/home/ann/lit.png')).toEqual(['/usr/bin/xdg-open', '/home/ann/lit.png']);
  for (const address of ['file:///etc/passwd', 'smb://host/share', '--help', 'lit.desktop', ''])
    expect(choose(address), address).toEqual([]);
});

test.runIf(process.platform !== 'win32')('a relative entry of PATH is not searched for programs', () => {
  const folder = folderForTest();
  const program = join(folder, 'tool');
  writeFileSync(program, '#!/bin/sh\n');
  const find = (path: string) => findProgram('tool', { platform: process.platform, env: { PATH: path } });
  expect(find(folder)).toBeUndefined();
  chmodSync(program, 0o755);
  expect(find(`:.:${folder}`)).toBe(program);
  expect(find('.:')).toBeUndefined();
  mkdirSync(join(folder, 'other'));
  expect(
    findProgram('other', { platform: process.platform, env: { PATH: folder } }),
    'a folder is no program',
  ).toBeUndefined();
});

test('a command is split into words, and quotes keep spaces', () => {
  expect(splitCommand(`sed  's/^/> /' "a 'b'"c`)).toEqual(['sed', 's/^/> /', "a 'b'c"]);
  expect(splitCommand('less $(touch x); ls')).toEqual(['less', '$(touch', 'x);', 'ls']);
  expect(splitCommand(' ')).toEqual([]);
});

test.runIf(process.platform !== 'win32')('a pager gets the environment without secrets', async () => {
  const folder = folderForTest();
  const pager = join(folder, 'pager');
  writeFileSync(pager, `#!/bin/sh\nenv > '${folder}/env'\ncat > '${folder}/text'\n`, { mode: 0o755 });
  const secrets = { REGEN_TOKEN: 'secret-1', REGEN_WEBHOOK_SECRET: 'secret-2', GITHUB_TOKEN: 'secret-3' };
  const env = { PATH: process.env.PATH, PAGER: pager, TERM: 'xterm', PGPASSWORD: 'secret-4', ...secrets };
  expect(await showInPager({ env, cwd: folder, platform: process.platform }, 'a text\n')).toBe(true);
  expect(readFileSync(join(folder, 'text'), 'utf8')).toBe('a text\n');
  const given = readFileSync(join(folder, 'env'), 'utf8');
  expect(given).not.toContain('secret-');
  expect(given).toContain('TERM=xterm');
  expect(given).toContain('LESS=FRX');
});

test('the names of secrets are known, and other variables are not taken for them', () => {
  const secret = ['REGEN_TOKEN', 'REGEN_ADMIN_TOKEN_FILE', 'AWS_SECRET_ACCESS_KEY', 'npm_config_api_key'];
  const others = ['PATH', 'LESS', 'LC_ALL', 'DISPLAY', 'DBUS_SESSION_BUS_ADDRESS', 'XAUTHORITY'];
  const env = Object.fromEntries([...secret, ...others].map((name) => [name, 'x']));
  expect(Object.keys(removeSecrets(env))).toEqual(others);
});
