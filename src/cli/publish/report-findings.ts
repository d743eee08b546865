import { relative, sep } from 'node:path';
import { version } from '../command/version.js';
import { toJson } from '../terminal/text.js';

/** A finding of a check, in a file of a folder. */
export interface ReportedFinding {
  readonly file: string;
  readonly line: number;
  readonly rule: string;
  readonly severity: 'high' | 'low';
  readonly message: string;
}

/** The folder of the findings, and the one that is read from: the root of a checkout in CI. */
export interface ReportPlace {
  readonly folder: string;
  readonly root: string;
}

/** How findings are written for other programs. */
export const REPORT_FORMATS: Readonly<
  Record<string, (findings: readonly ReportedFinding[], place: ReportPlace) => string>
> = {
  github: formatForGitHub,
  sarif: formatAsSarif,
};

/** Commands of a GitHub workflow, which shows them in the pull request: one line each. */
function formatForGitHub(findings: readonly ReportedFinding[], place: ReportPlace): string {
  const lines = findings.map(({ file, line, rule, severity, message }) => {
    const values = { file: locate(file, place), line: String(line), title: `regen: ${rule}` };
    const properties = Object.entries(values).map(([name, value]) => `${name}=${escapeProperty(value)}`);
    return `::${severity === 'high' ? 'error' : 'warning'} ${properties.join(',')}::${escapeData(message)}`;
  });
  return lines.join('\n');
}

/** A runner takes any line that begins with `::` for a command. */
function escapeData(text: string): string {
  return text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C');
}

/** SARIF 2.1.0, which code hosts and editors read. */
function formatAsSarif(findings: readonly ReportedFinding[], place: ReportPlace): string {
  const rules = [...new Set(findings.map(({ rule }) => rule))].sort().map((id) => ({ id }));
  const results = findings.map(({ file, line, rule, severity, message }) => ({
    ruleId: rule,
    level: severity === 'high' ? 'error' : 'warning',
    message: { text: message },
    locations: [
      {
        physicalLocation: {
          artifactLocation: { uri: locate(file, place).split('/').map(encodeURIComponent).join('/') },
          region: { startLine: line },
        },
      },
    ],
  }));
  return toJson(
    {
      $schema: 'https://json.schemastore.org/sarif-2.1.0.json',
      version: '2.1.0',
      runs: [{ tool: { driver: { name: 'regen', version, rules } }, results }],
    },
    2,
  );
}

/** The path of a file from the root. */
function locate(file: string, { folder, root }: ReportPlace): string {
  const below = relative(root, folder).split(sep).join('/');
  return below ? `${below}/${file}` : file;
}
