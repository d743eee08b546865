import { expect, it } from 'vitest';
import type { Command } from '../../../src/cli/command/command.js';
import { findRequestProblems, formatFieldName, toInvalidFailure } from '../../../src/cli/command/request.js';
import type { Failure } from '../../../src/cli/terminal/failure.js';
import { contract } from '../../../src/contract/index.js';

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
  return toInvalidFailure(findRequestProblems(contract.image.relight, command, request, { bodyGiven }));
}

const image = 'iVBORw0KGgo=';
const both = { transfer_light_from_lightmap: image, transfer_light_from_reference_image: image };

it('names flags that cannot be used together in the words of the command line', () => {
  expect(findFailure({ image, ...both }, false).message).toBe(
    '--reference cannot be combined with --lightmap.',
  );
  expect(findFailure({ image: 'light.png' }, false).message).toMatch(/^<image> must be Base64/);
});

it('calls a field that an argument and a flag fill by the one that was typed, else by the flag', () => {
  const target = ['body', 'reference_image'];
  const argument = { name: 'reference_image', required: false, variadic: true, target };
  const flag = { name: 'reference-image', value: 'image', description: '', target };
  const both = { ...command, arguments: [argument], flags: [flag] };
  expect(formatFieldName(target, both, false)).toBe('--reference-image');
  expect(formatFieldName(target, both, false, { reference_image: 'a.png' })).toBe('<reference_image>');
  expect(formatFieldName(target, { ...both, flags: [] }, false)).toBe('<reference_image>');
  const required = { ...both, arguments: [{ ...argument, required: true }] };
  expect(formatFieldName(target, required, false)).toBe('<reference_image>');
  expect(formatFieldName(target, both, true)).toBe('body.reference_image');
});

it('tells of a whole body in the words of the body', () => {
  expect(findFailure({ image, ...both }, true).message).toBe(
    'body.transfer_light_from_reference_image cannot be combined with body.transfer_light_from_lightmap.',
  );
});
