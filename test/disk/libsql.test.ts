import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';

test('SQLite can be loaded in an image without ldd and without a shell', () => {
  const code = `
    import childProcess from 'node:child_process';
    import fs from 'node:fs';
    import { syncBuiltinESMExports } from 'node:module';
    const refuse = () => { throw new Error('There is no such file.'); };
    const { readFileSync } = fs;
    fs.readFileSync = (path, ...rest) => (path === '/usr/bin/ldd' ? refuse() : readFileSync(path, ...rest));
    childProcess.execSync = refuse;
    syncBuiltinESMExports();
    const { Database } = await import(${JSON.stringify(resolve('src/disk/libsql.ts'))});
    console.log(new Database(':memory:').open);`;
  const args = ['--import=tsx', '--input-type=module', '--eval', code];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('true\n');
});

test('SQLite is loaded without a diagnostic report of the process', () => {
  const code = `
    let reports = 0;
    const { getReport } = process.report;
    process.report.getReport = () => (reports++, getReport.call(process.report));
    const { Database } = await import(${JSON.stringify(resolve('src/disk/libsql.ts'))});
    console.log(new Database(':memory:').open, reports);`;
  const args = ['--import=tsx', '--input-type=module', '--eval', code];
  expect(execFileSync(process.execPath, args, { encoding: 'utf8' })).toBe('true 0\n');
});
