/** One line of a table of the description. */
export interface DescribedRow {
  readonly field: string;
  /** In the words of service-table.txt. */
  readonly type: string;
  /** The values of an enumeration. */
  readonly values: readonly string[];
  /** Every number of the line. */
  readonly numbers: readonly string[];
  readonly required: boolean;
}

export interface DescribedTable {
  readonly section: string;
  readonly rows: readonly DescribedRow[];
}

export interface Description {
  /** `4.1.1 POST /proxy/…` */
  readonly headings: readonly string[];
  readonly tables: readonly DescribedTable[];
  /** The sections of the operations that are shown with a credential. */
  readonly bearer: readonly string[];
}

/** Reads the headings and tables of the service description's Markdown. */
export function readDescription(markdown: string): Description {
  const headings: string[] = [];
  const tables: { section: string; rows: DescribedRow[] }[] = [];
  const bearer = new Set<string>();
  let sections: string[] = [];
  let inTable = false;
  for (const line of markdown.split('\n')) {
    if (line.startsWith('#')) {
      const found = [...line.matchAll(/(\d+(?:\.\d+)*) (?:(GET|POST|PUT|DELETE) (\/\S+))/g)];
      for (const [, section, method, path] of found) headings.push(`${section} ${method} ${path}`);
      sections = found.length > 0 ? found.map(([, section]) => section as string) : [numberOf(line)];
      // Its heading says so of the whole of 4.1.
      if (/^4\.1\./.test(sections[0] as string)) bearer.add(sections[0] as string);
    }
    if (line.startsWith('Bearer auth')) for (const section of sections) bearer.add(section);
    const cells = line.startsWith('|')
      ? line
          .slice(1, -1)
          .split('|')
          .map((cell) => cell.trim())
      : undefined;
    if (!cells) inTable = false;
    else if (!inTable) {
      inTable = true;
      tables.push({ section: sections[0] as string, rows: [] });
    } else if (!/^-+$/.test(cells[0] as string)) tables.at(-1)?.rows.push(rowOf(cells));
  }
  return { headings, tables, bearer: [...bearer] };
}

function numberOf(heading: string): string {
  return /[\d.]*\d/.exec(heading)?.[0] ?? '';
}

function rowOf([field = '', type = '', notes = '']: readonly string[]): DescribedRow {
  const isNotes = notes !== '';
  return {
    field,
    type: typeOf(type),
    values: valuesOf(type, notes),
    numbers: (isNotes ? notes : field).match(/(?<![\w.])\d+(?:\.\d+)?(?!\w)/g) ?? [],
    required: /^Required\b/.test(notes),
  };
}

function typeOf(type: string): string {
  const [first = ''] = type.split(',');
  if (first === 'enum') return 'string';
  const item = /^array of (.*)/.exec(first)?.[1];
  return item ? `${item}[]` : first;
}

/** An enumeration's values; of other texts those that are names of models or resolutions. */
function valuesOf(type: string, notes: string): string[] {
  const plain = notes.replace(/\([^)]*\)/g, '').replace(/^Required; /, '');
  if (type !== 'enum') return plain.match(/\bvv[\w.-]*\w|\b\d+p\b|\b2K\b/g) ?? [];
  return (plain.split(';')[0] as string).split(',').map((value) => value.trim());
}
