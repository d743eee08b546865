import { expect, it, onTestFinished } from 'vitest';
import type { Argument, Command } from '../../../src/cli/command/command.js';
import { formatChoices } from '../../../src/cli/command/flags.js';
import { findRequestProblems, formatFieldName, toInvalidFailure } from '../../../src/cli/command/request.js';
import { commandTree } from '../../../src/cli/command-tree.js';
import type { Failure } from '../../../src/cli/terminal/failure.js';
import { contract } from '../../../src/contract/index.js';
import { homeForTest, regen } from '../../support/cli.js';
import { listenOn } from '../../support/listen.js';
import { packForTest } from '../../support/packs.js';

const command: Command = {
  words: ['image', 'relight'],
  summary: '',
  arguments: [{ name: 'image', required: true, variadic: false, target: ['body', 'image'] }],
  flags: [
    { name: 'lightmap', value: 'text', description: '', target: ['body', 'transfer_light_from_lightmap'] },
    {
      name: 'reference',
      value: 'text',
      description: '',
      target: ['body', 'transfer_light_from_reference_image'],
    },
  ],
  examples: [],
  module: 'operation',
  takes: [],
};

function findFailure(body: object, bodyGiven: boolean): Failure {
  const request = { params: {}, query: {}, body };
  return toInvalidFailure(
    findRequestProblems(contract.image.relight, { command, args: {}, flags: {} }, request, { bodyGiven }),
  );
}

const image = 'iVBORw0KGgo=';
const both = { transfer_light_from_lightmap: image, transfer_light_from_reference_image: image };

it('the message about flags that exclude each other names the flags', () => {
  expect(findFailure({ image, ...both }, false).message).toBe(
    '--reference cannot be combined with --lightmap.',
  );
  expect(findFailure({ image: 'light.png' }, false).message).toMatch(/^<image> must be Base64/);
});

it('a field that an argument and a flag can set is named after the one that was typed, else after the argument', () => {
  const target = ['body', 'reference_image'];
  const argument = { name: 'reference_image', required: false, variadic: true, target };
  const flag = { name: 'reference-image', value: 'image', description: '', target };
  const both = { command: { ...command, arguments: [argument], flags: [flag] }, args: {}, flags: {} };
  expect(formatFieldName(target, both, false)).toBe('<reference_image>');
  const typed = { ...both, flags: { 'reference-image': 'a.png' } };
  expect(formatFieldName(target, typed, false)).toBe('--reference-image');
  expect(formatFieldName(target, { ...both, args: { reference_image: 'a.png' } }, false)).toBe(
    '<reference_image>',
  );
  expect(formatFieldName(target, { ...both, command: { ...both.command, flags: [] } }, false)).toBe(
    '<reference_image>',
  );
  const required = { ...both, command: { ...both.command, arguments: [{ ...argument, required: true }] } };
  expect(formatFieldName(target, required, false)).toBe('<reference_image>');
  expect(formatFieldName(target, both, true)).toBe('body.reference_image');
});

it('problems of a body given as a whole use the names of the body', () => {
  expect(findFailure({ image, ...both }, true).message).toBe(
    'body.transfer_light_from_reference_image cannot be combined with body.transfer_light_from_lightmap.',
  );
});

const nowhere = { env: { REGEN_BASE_URL: 'http://127.0.0.1:9' } };

it('all missing arguments are named', async () => {
  expect((await regen(['config', 'set'])).stderr).toContain('<key>, <value> are required.');
  const missing = await regen(['host-nodes', 'get', 'a'], nowhere);
  expect(missing.stderr).toContain('<version>');
  expect(missing.exit).toBe(2);
});

it('one problem is reported once', async () => {
  const { stderr } = await regen(['node', 'create', 'acme', '--id', 'x'], nowhere);
  expect(stderr).toBe('error: --name is required.\n');
});

it('an update without changes is refused before it is sent', async () => {
  const { exit, stderr } = await regen(['node', 'update', 'acme', 'x'], nowhere);
  expect(exit).toBe(2);
  expect(stderr).toContain('No changes given.');
  expect(stderr).toContain(
    'To upgrade an installed pack: regen node install. See the flags: regen node update --help',
  );
});

it.each(['-o', '--base-url', '--profile'])('an empty value of %s is refused', async (flag) => {
  const { exit, stderr } = await regen(['version', 'download', 'node', flag, '']);
  expect(exit).toBe(2);
  expect(stderr).toMatch(/--(output|base-url|profile) must not be empty/);
});

it('a value that is none of the choices is answered with those that help lists', async () => {
  const { commands } = commandTree();
  const wrong: string[] = [];
  for (const { words, arguments: positionals, flags } of commands) {
    for (const input of [...positionals, ...flags].filter(({ choices, target }) => choices && target)) {
      const fill = (one: Argument) => (one === input ? 'none' : 'x1');
      const given = positionals.filter((one) => one.required || one === input).map(fill);
      const flag = positionals.includes(input as Argument) ? [] : [`--${input.name}`, 'none'];
      const { stderr } = await regen([...words, ...given, ...flag], {
        env: { REGEN_BASE_URL: 'http://127.0.0.1:9' },
      });
      const offered = /must be one of (.*), not 'none'/.exec(stderr)?.[1];
      // What a model offers is less.
      if (input.name !== 'resolution' && offered !== formatChoices(input.choices)) wrong.push(stderr);
    }
  }
  expect(wrong).toEqual([]);
});

it('a positional that is missing or empty is refused, as an unset variable of a script makes it', async () => {
  const { url, close } = await listenOn((_, response) => void response.end('{}'));
  onTestFinished(close);
  const surroundings = { cwd: packForTest(), home: homeForTest(), env: { REGEN_BASE_URL: url } };
  const accepted: string[] = [];
  const expectRefused = async (argv: readonly string[]) => {
    const { exit, stderr } = await regen(argv, surroundings);
    if (exit !== 2 || !/ ((is|are) required|must|names|given)\b/.test(stderr))
      accepted.push(`${argv.join(' ')}: ${exit} ${stderr}`);
  };
  for (const { words, arguments: positionals } of commandTree().commands) {
    const required = positionals.filter((one) => one.required);
    if (required.length > 0) await expectRefused(words);
    // What is a field of a request may be empty, such as the text of a search.
    for (const [at, { target }] of positionals.entries())
      if (!target)
        await expectRefused([...words, ...positionals.map((_, index) => (index === at ? '' : 'x1'))]);
  }
  expect(accepted).toEqual([]);
});
