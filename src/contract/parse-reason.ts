import { parseJson } from './json.js';
export interface VerdictReason {
  /** `file:line`, as far as the registry says. */
  readonly where: string;
  readonly rule: string;
  readonly detail: string;
}

/** The names that registries give to the parts of a finding. */
const NAMES = {
  file: ['file_path', 'filePath', 'file', 'path', 'filename'],
  line: ['line_number', 'lineNumber', 'line', 'start_line'],
  rule: ['issue_type', 'rule', 'rule_id', 'check', 'type', 'code'],
  detail: ['description', 'message', 'issue_text', 'code_snippet', 'detail'],
} as const;

/** Parses the reason of a verdict: JSON with findings, or text with a finding in each line. */
export function parseReason(text: string): VerdictReason[] {
  const findings = findFindings(parseJson(text));
  if (findings.length > 0) return findings;
  const lines = text.split(/\r?\n|\\n/).flatMap((line) => line.trim() || []);
  return lines.map((line) => {
    const [, where = '', rest = line] = /^(?:[-*]\s*)?([^\s:]+\.\w+:\d+):?(.*)/s.exec(line) ?? [];
    return { where, rule: '', detail: rest.trim() };
  });
}

/** Reasons are short; one that is nested deeper is not read. */
const MAX_DEPTH = 6;

/** Finds the objects that name a file or a rule, at any place. */
function findFindings(value: unknown, depth = 0): VerdictReason[] {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return [];
  if (Array.isArray(value)) return value.flatMap((item) => findFindings(item, depth + 1));
  const read = (names: readonly string[]) => {
    const name = names.find((one) => ['string', 'number'].includes(typeof (value as Fields)[one]));
    return name === undefined ? '' : String((value as Fields)[name]);
  };
  const [file, line, rule, detail] = [NAMES.file, NAMES.line, NAMES.rule, NAMES.detail].map(read);
  if (file || (rule && detail)) {
    const where = [file, line].filter(Boolean).join(':');
    return [{ where, rule: rule as string, detail: detail as string }];
  }
  return Object.values(value).flatMap((inner) => findFindings(inner, depth + 1));
}

type Fields = Readonly<Record<string, unknown>>;
