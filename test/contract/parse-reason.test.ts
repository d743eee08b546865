import { expect, test } from 'vitest';
import { parseReason } from '../../src/contract/parse-reason.js';

test.each([
  ['', []],
  ['load.py:3: runs what it downloads', [{ where: 'load.py:3', rule: '', detail: 'runs what it downloads' }]],
  [
    '- a/b.py:12 subprocess\\nsecond',
    [
      { where: 'a/b.py:12', rule: '', detail: 'subprocess' },
      { where: '', rule: '', detail: 'second' },
    ],
  ],
  [
    '[{"rule":"eval","line":4,"file":"x.py","message":"eval"}]',
    [{ where: 'x.py:4', rule: 'eval', detail: 'eval' }],
  ],
  ['{"a":{"b":[{"type":"t","description":"d"}]}}', [{ where: '', rule: 't', detail: 'd' }]],
  [
    '{"status":"Passed automated checks"}',
    [{ where: '', rule: '', detail: '{"status":"Passed automated checks"}' }],
  ],
])('the reason %s', (text, reasons) => {
  expect(parseReason(text)).toEqual(reasons);
});
