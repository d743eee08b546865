import { expect, test } from 'vitest';
import { parseReason, summarizeReason } from '../../src/contract/parse-reason.js';

test.each([
  ['', []],
  [
    'load.py:3: runs what it downloads',
    [{ where: 'load.py:3', severity: '', rule: '', detail: 'runs what it downloads' }],
  ],
  [
    '- a/b.py:12 subprocess\\nsecond',
    [
      { where: 'a/b.py:12', severity: '', rule: '', detail: 'subprocess' },
      { where: '', severity: '', rule: '', detail: 'second' },
    ],
  ],
  [
    '[{"rule":"eval","severity":"HIGH","line":4,"file":"x.py","message":"eval"}]',
    [{ where: 'x.py:4', severity: 'high', rule: 'eval', detail: 'eval' }],
  ],
  ['{"a":{"b":[{"type":"t","description":"d"}]}}', [{ where: '', severity: '', rule: 't', detail: 'd' }]],
  [
    '{"status":"Passed automated checks"}',
    [{ where: '', severity: '', rule: '', detail: '{"status":"Passed automated checks"}' }],
  ],
  [
    'my pack/nodes:4 Starts another program. (subprocess, only noted)\nx.py:3 Runs code. (remote-code)',
    [
      { where: 'my pack/nodes:4', severity: 'low', rule: 'subprocess', detail: 'Starts another program.' },
      { where: 'x.py:3', severity: 'high', rule: 'remote-code', detail: 'Runs code.' },
    ],
  ],
  [
    'It calls ffmpeg (harmless)',
    [{ where: '', severity: '', rule: '', detail: 'It calls ffmpeg (harmless)' }],
  ],
])('the reason %s', (text, reasons) => {
  expect(parseReason(text)).toEqual(reasons);
});

test('a reason in one line is the first finding, and how many follow it', () => {
  const finding = 'x.py:3 Starts another program. (subprocess, only noted)';
  expect(['', finding, `${finding}\nsecond\nthird`].map(summarizeReason)).toEqual([
    '',
    finding,
    `${finding} (and 2 more)`,
  ]);
});
