import { expect, test } from 'vitest';
import { listShownFields } from '../../../src/cli/terminal/cells.js';

test('a card leaves out what a service sends again in the names of another registry', () => {
  const version = {
    version: '1.0.0',
    host_node_extract_status: 'success',
    comfy_node_extract_status: 'success',
  };
  expect(listShownFields(version)).toEqual([
    ['version', '1.0.0'],
    ['host_node_extract_status', 'success'],
  ]);
  expect(listShownFields({ admin: true, isAdmin: true })).toEqual([['admin', 'true']]);
  expect(listShownFields({ comfy_node_extract_status: 'success' })).toHaveLength(1);
});
