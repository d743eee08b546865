import { createRequire } from 'node:module';
import type Libsql from 'libsql';

/**
 * SQLite. Which C library there is, its loader reads in a diagnostic report of the whole process, or in a small file if
 * there is no report; making one takes longer than all else that it does.
 */
export const Database: typeof Libsql = loadWithoutReport();

function loadWithoutReport(): typeof Libsql {
  const require = createRequire(import.meta.url);
  const { report } = process;
  const { getReport } = report ?? {};
  try {
    if (report) report.getReport = () => ({});
    return require('libsql');
  } finally {
    if (report && getReport) report.getReport = getReport;
  }
}
