import { parse } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { formatConfigurationPage } from '../../scripts/configuration-page.js';
import { Configuration, parseConfiguration } from '../../src/service/configuration/configuration.js';
import { formatMeasure } from '../../src/service/configuration/measure.js';
import {
  formatStandard,
  listSettings,
  writeConfigurationFile,
} from '../../src/service/configuration/settings.js';
import { formatPath, InvalidConfiguration } from '../../src/service/configuration/start-errors.js';

const settings = listSettings();
const findSetting = (line: string) =>
  settings.find(({ path }) => line.startsWith(`${formatPath(path)} = `)) as (typeof settings)[number];
const readAt = (value: unknown, path: readonly string[]) =>
  path.reduce<unknown>((part, name) => (part as Record<string, unknown> | undefined)?.[name], value);

/** The lines of the file that can be uncommented, and whether each is an example. */
function readLines(): { readonly line: string; readonly isExample: boolean }[] {
  const lines = writeConfigurationFile().split('\n');
  return lines.flatMap((line, at) =>
    /^#[^ ]/.test(line) ? [{ line: line.slice(1), isExample: lines[at - 1] === '# Not set. Example:' }] : [],
  );
}

async function findProblems(document: object): Promise<string[]> {
  try {
    await parseConfiguration(document as never, {});
    return [];
  } catch (error) {
    if (!(error instanceof InvalidConfiguration)) throw error;
    return error.problems.map(({ path, message }) => `${path.join('.')} ${String(message)}`);
  }
}

describe('the file of serve init', () => {
  const lines = readLines();

  it('has a line for every setting, and shows the default of the schema or says that there is none', () => {
    expect(lines).toHaveLength(settings.length);
    const standard = { ...Configuration.parse({}), port: 7717 };
    const wrong = lines.flatMap(({ line, isExample }) => {
      const { path } = findSetting(line);
      const expected = readAt(standard, path);
      if (expected === undefined) return [];
      const document = parse(line) as { generation?: Record<string, object> };
      const { image, video } = document.generation ?? {};
      for (const engine of [image, video]) if (engine) Object.assign(engine, { engine: 'local', ...engine });
      const read = readAt(Configuration.safeParse(document).data, path);
      return isExample || JSON.stringify(read) !== JSON.stringify(expected) ? [line] : [];
    });
    expect(wrong).toEqual([]);
  });

  it('explains every setting', () => {
    const text = writeConfigurationFile();
    expect(
      text.split('\n').filter((line, at, all) => /^#[a-z"]/.test(line) && !/^# /.test(all[at - 1] ?? '')),
    ).toEqual([]);
    expect(settings.filter(({ field }) => !field.description)).toEqual([]);
  });

  it('takes each line alone, and the tables of the documentation after what it uncomments', () => {
    const text = writeConfigurationFile();
    for (const { line } of lines) {
      const { path } = findSetting(line);
      const { [path[0] as string]: _, ...others } = parse(text.replace(`\n#${line}\n`, `\n${line}\n`));
      expect(others, line).toEqual({});
    }
    const pasted = '[generation.image]\nengine = "upstream"\n[prices]\nimage.relight = 3\n';
    const uncommented = text.replace(/^#(limits.bulkPairs|generation.video.atOnce)/gm, '$1');
    expect(parse(`${uncommented}${pasted}`)).toEqual({
      generation: { image: { engine: 'upstream' }, video: { atOnce: 2 } },
      prices: { image: { relight: 3 } },
      limits: { bulkPairs: 1000 },
    });
  });

  it('changes nothing if all defaults that apply without a vendor or another registry are uncommented', async () => {
    const applying = lines.filter(
      ({ line, isExample }) => !isExample && !/^(generation\.\w+\.(?!engine)|uplink)/.test(line),
    );
    expect(applying.length).toBeGreaterThan(50);
    const text = applying.map(({ line }) => line).join('\n');
    const standard = await parseConfiguration({ port: 7717 }, {});
    expect(await parseConfiguration(parse(text) as never, {})).toEqual(standard);
  });

  it('has an example with a valid value for each setting that is not set', async () => {
    const checks = lines.map(async ({ line, isExample }) => {
      // Workflows and recordings are files.
      if (!isExample || /^generation\.(?:\w+\.workflows|replay) /.test(line)) return [];
      const name = findSetting(line).path.join('.');
      const document = parse(line) as { generation?: Record<string, object> };
      for (const vendor of Object.values(document.generation ?? {}))
        Object.assign(vendor, {
          engine: 'upstream',
          baseUrl: 'https://api.example.com',
          key: { env: 'K', ...(vendor as { key?: object }).key },
        });
      const own = (await findProblems(document)).filter(
        (problem) => problem.startsWith(`${name} `) && !/needs (a database|an engine)/.test(problem),
      );
      return own.map((problem) => `${line}: ${problem}`);
    });
    const wrong = (await Promise.all(checks)).flat();
    expect(wrong).toEqual([]);
  });
});

it('the reference shows the same defaults as serve init', () => {
  const page = formatConfigurationPage();
  const missing = settings.filter(({ variable, ...setting }) => {
    const standard = formatStandard({ variable, ...setting });
    const row = page.split('\n').find((line) => line.includes(`<br>\`${variable}\``));
    return !row?.endsWith(standard === undefined ? '|  |' : `| \`${standard}\` |`);
  });
  expect(missing.map(({ path }) => path.join('.'))).toEqual([]);
});

describe('sizes and times', () => {
  it.each([
    ['limits.archive', '10GB', 10e9],
    ['limits.archive', '10GiB', 10 * 1024 ** 3],
    ['limits.archive', '1.5 kB', 1500],
    ['limits.archive', '4096', 4096],
    ['limits.archive', 4096, 4096],
    ['minFreeDiskBytes', '200mb', 200e6],
    ['drainMs', '5s', 5000],
    ['drainMs', '250ms', 250],
    ['graceMs', 10_000, 10_000],
    ['limits.uploadBeginSeconds', '15m', 900],
    ['limits.offPeakSeconds', '2d', 172_800],
    ['retention.results', '90d', 90],
    ['retention.results', 30, 30],
    ['retention.bannedArchives', false, false],
    ['quotas.bytesPerDay', '1.1GB', 1.1e9],
  ])('%s accepts %j', async (name, value, expected) => {
    const [first = '', second] = name.split('.');
    const document = second ? { [first]: { [second]: value } } : { [first]: value };
    expect(readAt(await parseConfiguration(document as never, {}), name.split('.'))).toBe(expected);
  });

  it.each([
    ['limits.archive', '10 elephants', 'must be a size such as "10GB", or a number of bytes'],
    ['limits.archive', '-1GB', 'must be a size such as "10GB", or a number of bytes'],
    ['limits.archive', '0B', 'must be more than 0'],
    ['drainMs', '5GB', 'must be a time such as "5s", or a number of milliseconds'],
    ['drainMs', '99999d', 'must be at most'],
    ['drainMs', `${'9'.repeat(100_000)}s`, 'must be a time such as "5s"'],
    ['retention.results', '90', undefined],
    ['retention.results', '2d', 'must be at least 7'],
    ['retention.results', '8.5d', 'must be a whole number of days from 7, or false'],
    ['minFreeDiskBytes', '1.0005kB', 'must be a whole number'],
    ['graceMs', true, 'must be a whole number'],
  ])('%s with %j is refused with what it takes', async (name, value, message) => {
    const [first = '', second] = name.split('.');
    const problems = await findProblems(second ? { [first]: { [second]: value } } : { [first]: value });
    expect(problems).toEqual(message === undefined ? [] : [expect.stringContaining(`${name} ${message}`)]);
  });

  it.each([
    ['bytes', 150 * 1024 ** 2, '150MiB'],
    ['bytes', 500e6, '500MB'],
    ['bytes', 1_048_577, '1048577B'],
    ['milliseconds', 10_000, '10s'],
    ['milliseconds', 1500, '1500ms'],
    ['seconds', 86_400, '1d'],
    ['seconds', 0, '0s'],
    ['days', 90, '90d'],
  ] as const)('%s %j is shown as %s, which is read as the same', (unit, value, shown) => {
    expect(formatMeasure(unit, value)).toBe(shown);
  });
});

it('an unknown setting is refused with the nearest one, at any depth', async () => {
  expect(
    await findProblems({
      publcUrl: 3,
      quotas: { tasksInFlght: 3 },
      issuers: [{ issuer: 'https://a.example', clientid: 'x' }],
    }),
  ).toEqual(
    expect.arrayContaining([
      'publcUrl is not a setting (did you mean publicUrl?)',
      'quotas.tasksInFlght is not a setting (did you mean tasksInFlight?)',
      'issuers.0.clientid is not a setting (did you mean clientId?)',
    ]),
  );
  expect(await findProblems({ generation: { port: 7718 }, bulkPairs: 3, models: {} })).toEqual([
    'generation.port is not a setting (did you mean port, above the first [table]?)',
    'bulkPairs is not a setting (did you mean limits.bulkPairs?)',
    'models is not a setting (did you mean generation.video.models?)',
  ]);
});
