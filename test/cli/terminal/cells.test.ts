import { expect, test } from 'vitest';
import { formatLabel, listShownFields, presentField } from '../../../src/cli/terminal/cells.js';

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

test('a card shows bytes as a size, under the name of what takes them', () => {
  expect([formatLabel('free_bytes'), presentField('free_bytes', '78916206592', 0).text]).toEqual([
    'Free',
    '78.9 GB',
  ]);
  expect([formatLabel('bytes'), presentField('bytes', '900', 0).text]).toEqual(['Size', '900 bytes']);
});
