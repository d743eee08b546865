import { expect, it } from 'vitest';
import { listHostNodes } from '../../../src/flows/workflow/host-definitions.js';

it('has one spelling of each node in the table of the host', () => {
  const { names } = listHostNodes();
  const folded = [...names].map((name) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, ''));
  expect(folded.filter((name, at) => folded.indexOf(name) !== at)).toEqual([]);
  expect([names.has('SVD_img2vid_Conditioning'), names.has('Epsilon Scaling')]).toEqual([true, true]);
});
