import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type Libsql from 'libsql';

/**
 * SQLite. Its loader looks for the name of the C library in /usr/bin/ldd and in a diagnostic report of the whole process.
 * Making the report takes longer than everything else that it does, so it gets an empty one if the file is enough.
 */
export const Database: typeof Libsql = loadDatabase();

function loadDatabase(): typeof Libsql {
  const require = createRequire(import.meta.url);
  const { report } = process;
  if (!report || !namesLibrary('/usr/bin/ldd')) return require('libsql');
  const { getReport } = report;
  try {
    report.getReport = () => ({});
    return require('libsql');
  } finally {
    report.getReport = getReport;
  }
}

function namesLibrary(path: string): boolean {
  try {
    const text = readFileSync(path, 'latin1');
    return text.includes('GLIBC') || text.includes('musl');
  } catch {
    return false;
  }
}
