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
  expect(listShownFields({ comfy_node_extract_status: 'success' })).toHaveLength(1);
});

test('items in a card are words, without ids that people cannot read', () => {
  const id = '27ac88bb-c088-4d7a-b52b-5fc88476c524';
  const members = [{ id, role: 'owner', user: { id, email: 'ben@example.com', name: 'Ben' } }];
  expect(listShownFields({ members })).toEqual([
    ['members', 'role owner, user email ben@example.com, user name Ben'],
  ]);
});
