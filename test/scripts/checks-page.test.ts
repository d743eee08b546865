import { describe, expect, it } from 'vitest';
import { RULE_EXAMPLES } from '../../scripts/checks-page.js';
import { RULES } from '../../src/python/scan/finding.js';
import { regen } from '../support/cli.js';
import { packForTest } from '../support/packs.js';

const examples = Object.entries(RULE_EXAMPLES).filter(([, code]) => code !== '');

describe('the example of a rule', () => {
  it.each(examples)('%s is found by that rule alone', async (rule, code) => {
    const folder = packForTest({ files: { 'example.py': `${code}\n` } });
    const { stdout } = await regen(['version', 'check', folder, '--json']);
    const { findings } = JSON.parse(stdout) as { findings: { rule: string; severity: string }[] };
    const { severity } = RULES[rule as keyof typeof RULES];
    expect(new Set(findings.map((one) => `${one.rule} ${one.severity}`))).toEqual(
      new Set([`${rule} ${severity}`]),
    );
  });
});

it('only rules about files that are not text have no example', () => {
  const without = Object.entries(RULE_EXAMPLES).flatMap(([rule, code]) => (code === '' ? [rule] : []));
  expect(without).toEqual(['unread-code', 'secret', 'compiled-code']);
});
