import { summarizeReason } from '../../contract/parse-reason.js';
import { shortenStatus } from '../../contract/status-names.js';
import { formatBytes } from '../../wire/format-bytes.js';
import { formatCell, listFields, readField } from './rows.js';
import { capitalize, oneLine } from './text.js';

/** What a state means to the reader: its colour. */
export type Tone = 'good' | 'busy' | 'bad';

/** A value as people read it. */
export interface Cell {
  readonly text: string;
  readonly tone?: Tone | undefined;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;
const BYTES_FIELD = /(?:^|\.|_)bytes$/;
const STATE_FIELD = /(?:^|\.|_)(?:status|state|verdict|severity|kind)$/;

const REASON_FIELD = /(?:^|\.|_)reason$/;

const TONES: Readonly<Record<Tone, readonly string[]>> = {
  good: ['active', 'done', 'ok', 'success', 'delivered', 'completed'],
  busy: ['pending', 'queued', 'running', 'warning', 'medium', 'retrying', 'unknown'],
  bad: ['failed', 'flagged', 'banned', 'deleted', 'error', 'high', 'gone', 'problem', 'not_found'],
};

/** Formats a field of a listed item: times are relative to `now`, states are short words, reasons are their first finding. */
export function presentCell(field: string, value: unknown, now: number): Cell {
  const isReason = typeof value === 'string' && REASON_FIELD.test(field);
  const text = oneLine(isReason ? summarizeReason(value) : formatValue(value));
  if (TIME.test(text)) return { text: formatAge(Date.parse(text), now) };
  return presentWord(field, text);
}

/** What cards call fields that their own words do not explain. */
const LABELS: Readonly<Record<string, string>> = {
  ...{
    archive_sha256: 'SHA-256',
    sha256: 'SHA-256',
    files_sha256: 'Files SHA-256',
    downloadUrl: 'URL',
    url: 'URL',
    id: 'ID',
  },
  ...{ host_node_extract_status: 'Definitions', node_id: 'Node', task_id: 'Task', node_version: 'Version' },
  ...{
    latest_version: 'Latest version',
    supported_os: 'Systems',
    status_reason: 'Reason',
    deprecation_message: 'Deprecation',
    err_code: 'Error',
  },
  ...{
    engines: 'Engine of',
    vendor_trouble: 'Trouble',
    archive_bytes: 'Archives',
    task_bytes: 'Tasks',
    bytes: 'Size',
  },
  ...{ is_rec: 'Extra for --is-rec', off_peak: 'Off-peak, share of the price' },
  video_per_second: 'Credits per second',
};

/** Names a field of one object for people: `Created`, `Latest version`, `Budget left`. */
export function formatLabel(path: string): string {
  const parts = path.split('.').map((name) => LABELS[name] ?? splitWords(name).replace(/ (?:at|bytes)$/, ''));
  const [first = '', ...rest] = parts;
  return oneLine([capitalize(first), ...rest.map(keepAcronym)].join(' '));
}

function keepAcronym(label: string): string {
  return /^[A-Z]{2}/.test(label) ? label : label.toLowerCase();
}

/** Formats a field of a single object, with the whole time. */
export function presentField(field: string, text: string, now: number): Cell {
  if (!TIME.test(text)) return presentWord(field, text);
  const at = new Date(text).toISOString();
  return { text: `${at.slice(0, 10)} ${at.slice(11, 19)} UTC, ${formatAge(Date.parse(text), now)}` };
}

/** What people read instead of some values. */
const WORDS: Readonly<Record<string, string>> = {
  ...{ true: 'yes', false: 'no', 'host_node_extract_status success': 'extracted' },
};

const chooseWord = (field: string, text: string) => WORDS[`${field} ${text}`] ?? WORDS[text] ?? text;

function presentWord(field: string, given: string): Cell {
  if (BYTES_FIELD.test(field) && /^\d+$/.test(given)) return { text: formatBytes(Number(given)) };
  const text = chooseWord(field, given);
  const word = shortenStatus(text);
  const short = word ?? text;
  return { text: short, tone: word || STATE_FIELD.test(field) ? findTone(short) : undefined };
}

function findTone(word: string): Tone | undefined {
  return (Object.keys(TONES) as Tone[]).find((tone) => TONES[tone].includes(word.toLowerCase()));
}

/** The types and names of outputs are texts of JSON. */
const NAMES_AS_JSON = /^\["[^"\\]*"(?:,"[^"\\]*")*\]$/;

/** A list of objects has one line of names and values for each. */
function formatValue(value: unknown): string {
  if (typeof value === 'string' && NAMES_AS_JSON.test(value))
    return value.slice(2, -2).replaceAll('","', ', ');
  if (!Array.isArray(value) || value.every((item) => typeof item !== 'object')) return formatCell(value);
  return value.map(formatNested).join('; ');
}

function formatNested(value: unknown): string {
  // A member is known by the name of the user, and a membership by the publisher.
  const names = ['user.name', 'user.email', 'id'].map((field) => readField(value, field));
  const [name, role] = [names.find(Boolean), readField(value, 'role')];
  if (name && role) return `${name} (${role})`;
  const fields = listFields(value).filter(([, text]) => text !== '');
  return fields.map(([name, text]) => `${name} ${text}`).join(', ');
}

/**
 * Lists the fields of one object for a screen: what it is and how it is first, empty fields left out, and those that a
 * service sends again under the name of another registry.
 */
export function listShownFields(value: unknown): [field: string, text: string][] {
  const all = listFields(nameEmbedded(value), '', formatValue).filter(([, text]) => text !== '');
  const fields = all.filter(([name]) => {
    const ours = name === 'isAdmin' ? 'admin' : name.replace(/^comfy_/, 'host_');
    return ours === name || !all.some(([own]) => own === ours);
  });
  const rank = ([name, text]: readonly [string, string]) => {
    // Of a version, which people know by its node and number.
    if (name === 'id' && UUID.test(text)) return FIRST_FIELDS.length + 2;
    return FIRST_FIELDS.indexOf(name) + 1 || FIRST_FIELDS.length + 1;
  };
  return fields.sort((one, other) => rank(one) - rank(other));
}

/** Resources in others, and the field that people know them by. */
const EMBEDDED: Readonly<Record<string, string>> = { publisher: 'id', latest_version: 'version' };

/** Replaces the resources in an object by their names. */
function nameEmbedded(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).map(([name, inner]) => {
    const field = EMBEDDED[name];
    const known = field === undefined ? undefined : readField(inner, field);
    return [name, known ?? inner];
  });
  return Object.fromEntries(fields);
}

const FIRST_FIELDS = [
  ...['node_id', 'id', 'task_id', 'name', 'display_name', 'version', 'latest_version', 'status', 'state'],
  ...['status_reason', 'host_node_extract_status', 'downloadUrl', 'archive_sha256'],
];

const UNITS: readonly (readonly [name: string, ms: number])[] = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['min', 60_000],
  ['s', 1000],
];
const MAX_AGE_MS = 30 * 86_400_000;

/** Formats a time relative to now, such as `3 min ago` or `in 2 h`; a far one as its date. */
export function formatAge(at: number, now: number): string {
  const distance = Math.abs(now - at);
  if (distance > MAX_AGE_MS) return new Date(at).toISOString().slice(0, 10);
  const unit = UNITS.find(([, ms]) => distance >= ms);
  if (!unit) return 'now';
  const length = `${Math.floor(distance / unit[1])} ${unit[0]}`;
  return at <= now ? `${length} ago` : `in ${length}`;
}

/** The headings of columns: the last word of a field's path, or all of it where that word occurs twice or is a total. */
export function formatHeadings(fields: readonly string[]): string[] {
  const last = fields.map((field) => splitWords(field.split('.').at(-1) as string).replace(/ at$/, ''));
  return fields.map((field, index) => {
    const short = last[index] as string;
    const isTwice = last.indexOf(short) !== last.lastIndexOf(short) || field.startsWith('total.');
    return oneLine(isTwice ? field.split('.').map(splitWords).join(' ') : short).toUpperCase();
  });
}

export function splitWords(name: string): string {
  return name
    .replace(/_/g, ' ')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase();
}

/** Of a delivery, and of a member of a publisher, with what is in front of it. */
const UUID = /^(?:msg_|[\w-]+\/)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;
const UUID_LENGTH = 36;
const MIN_ID_LENGTH = 8;

/** Shortens UUIDs to prefixes that differ from each other. */
export function shortenIds(ids: readonly string[]): Map<string, string> {
  const all = [...new Set(ids.filter((id) => UUID.test(id)))].sort();
  const shared = (one = '', other = '') => {
    let length = 0;
    while (length < one.length && one[length] === other[length]) length += 1;
    return length;
  };
  return new Map(
    all.map((id, index) => {
      const length = 1 + Math.max(shared(id, all[index - 1]), shared(id, all[index + 1]));
      return [id, id.slice(0, Math.max(MIN_ID_LENGTH + id.length - UUID_LENGTH, length))] as const;
    }),
  );
}
