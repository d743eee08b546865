import { parseJson } from './json.js';

/** A reason of a verdict. What the registry does not say is empty. */
export interface VerdictReason {
  /** `file:line`. */
  readonly where: string;
  /** Of this service: `high`, or `low` for what is only noted. */
  readonly severity: string;
  readonly rule: string;
  readonly detail: string;
}

/** The names that registries give to the parts of a finding. */
const NAMES = {
  file: ['file_path', 'filePath', 'file', 'path', 'filename'],
  line: ['line_number', 'lineNumber', 'line', 'start_line'],
  severity: ['severity', 'issue_severity', 'level'],
  rule: ['issue_type', 'rule', 'rule_id', 'check', 'type', 'code'],
  detail: ['description', 'message', 'issue_text', 'code_snippet', 'detail'],
} as const;

/** Parses the reason of a verdict: JSON with findings, or text with a finding in each line. */
export function parseReason(text: string): VerdictReason[] {
  const findings = findFindings(parseJson(text));
  if (findings.length > 0) return findings;
  const lines = text.split(/\r?\n|\\n/).flatMap((line) => line.trim() || []);
  return lines.map((line) => {
    const [suffix = '', rule = '', noted] = RULE.exec(line) ?? [];
    const [, place = '', message = ''] = (suffix && PLACE.exec(line.slice(0, -suffix.length))) || [];
    if (place) return { where: place, severity: noted ? 'low' : 'high', rule, detail: message };
    const [, where = '', rest = line] = /^(?:[-*]\s*)?([^\s:]+\.\w+:\d+):?(.*)/s.exec(line) ?? [];
    return { where, severity: '', rule: '', detail: rest.trim() };
  });
}

/** How the checks of this service end a finding, and begin it. */
const RULE = / \(([a-z]+(?:-[a-z]+)*)(, only noted)?\)$/;
const PLACE = /^([^:]+:\d+) (.*)/s;

/** Writes the first reason of a verdict in a line, and how many others there are. */
export function summarizeReason(text: string): string {
  const [first, ...others] = parseReason(text);
  if (!first) return '';
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return `${formatReason(first)}${more}`;
}

/** Writes a reason as the checks of this service do. */
export function formatReason({ where, ...reason }: VerdictReason): string {
  return [where, formatDetail(reason)].filter(Boolean).join(' ');
}

/** Writes a reason without its place. */
export function formatDetail({ severity, rule, detail }: Omit<VerdictReason, 'where'>): string {
  return `${detail}${rule && ` (${rule}${severity === 'low' ? ', only noted' : ''})`}`.trim();
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
  const [file, line] = [read(NAMES.file), read(NAMES.line)];
  const [severity, rule, detail] = [read(NAMES.severity).toLowerCase(), read(NAMES.rule), read(NAMES.detail)];
  if (file || (rule && detail)) {
    const where = [file, line].filter(Boolean).join(':');
    return [{ where, severity, rule, detail }];
  }
  return Object.values(value).flatMap((inner) => findFindings(inner, depth + 1));
}

type Fields = Readonly<Record<string, unknown>>;
