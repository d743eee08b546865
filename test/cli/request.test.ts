import { expect, it } from 'vitest';
import type { Command } from '../../src/cli/command.js';
import { Failure } from '../../src/cli/failure.js';
import { checkRequest } from '../../src/cli/request.js';
import { contract } from '../../src/contract/index.js';

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

function failureOf(body: object, bodyGiven: boolean): Failure {
  const request = { params: {}, query: {}, body };
  try {
    checkRequest(contract.image.relight, command, request, bodyGiven);
  } catch (error) {
    if (error instanceof Failure) return error;
    throw error;
  }
  return expect.unreachable('should have failed');
}

const image = 'iVBORw0KGgo=';
const both = { transfer_light_from_lightmap: image, transfer_light_from_reference_image: image };

it('tells of flags that exclude each other in the words of the command line', () => {
  expect(failureOf({ image, ...both }, false).message).toBe(
    '--reference and --lightmap exclude each other; give one of them.',
  );
  expect(failureOf({ image: 'light.png' }, false).message).toMatch(/^<image> must be Base64/);
});

it('tells of a whole body in the words of the body', () => {
  expect(failureOf({ image, ...both }, true).message).toBe(
    'body.transfer_light_from_reference_image and body.transfer_light_from_lightmap exclude each other; give one of them.',
  );
});
