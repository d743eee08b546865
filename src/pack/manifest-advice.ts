import { isRecord } from '../contract/json.js';
import { findNearest } from '../wire/nearest.js';
import type { PackProblem } from './problem.js';
import { PACK_KEYS, PROJECT_KEYS, type Pyproject } from './pyproject.js';

/** What someone reads of each table: PEP 621 and what followed it, and the tools of ComfyUI's registry. */
const KNOWN_KEYS: Readonly<Record<string, readonly string[]>> = {
  project: [
    ...PROJECT_KEYS,
    ...['readme', 'requires-python', 'maintainers', 'scripts', 'gui-scripts', 'entry-points'],
    ...['optional-dependencies', 'import-names', 'import-namespaces'],
  ],
  'tool.comfy': [...PACK_KEYS, 'Models', 'models', 'web'],
  'tool.hostui': PACK_KEYS,
};

/** Finds the keys of a table that nothing reads, and that are nearly those that something reads. */
function findMisspelled(table: Record<string, unknown>, known: readonly string[]) {
  const byLower = new Map(known.map((name) => [name.toLowerCase(), name]));
  return Object.keys(table).flatMap((key) => {
    const near = known.includes(key) ? undefined : findNearest(key.toLowerCase(), [...byLower.keys()]);
    const meant = byLower.get(near ?? '');
    return meant !== undefined && table[meant] === undefined ? [{ key, meant }] : [];
  });
}

const toTable = (value: unknown) => (isRecord(value) ? value : {});

/**
 * Explains what is missing in a manifest by what is misspelled.
 * @returns the problems, and a warning for each key or table that is ignored
 */
export function adviseOnKeys(document: unknown, problems: readonly PackProblem[]) {
  const root = toTable(document);
  const tool = toTable(root.tool);
  const tables = { project: root.project, 'tool.comfy': tool.comfy, 'tool.hostui': tool.hostui };
  const found = Object.entries(tables).flatMap(([table, value]) =>
    findMisspelled(toTable(value), KNOWN_KEYS[table] ?? []).map((one) => ({ ...one, table })),
  );
  const warnings = found.map(({ table, key, meant }) => ({
    where: `[${table}] ${key}`,
    message: `is ignored; the nearest key is ${meant}`,
  }));
  let explained = problems.map((one) => {
    const key = found.find(({ table, meant }) => one.where === `[${table}] ${meant}`)?.key;
    return key && isMissing(one) ? { ...one, message: `${one.message}; found ${key}` } : one;
  });
  if (root.project === undefined) {
    const [like] = findMisspelled(root, ['project']);
    explained = replaceMissing(explained, '[project]', `has no [project] table${formatFound(like?.key)}`);
  }
  if (!tool.comfy && !tool.hostui && (root.tool === undefined || isRecord(root.tool))) {
    const [like] = findMisspelled(tool, ['comfy', 'hostui']);
    const table = like && `tool.${like.key}`;
    const message = `has neither [tool.comfy] nor [tool.hostui]${formatFound(table)}`;
    explained = replaceMissing(explained, '[tool.comfy]', message);
    if (like)
      warnings.push({
        where: `[${table}]`,
        message: `is ignored; the nearest table is [tool.${like.meant}]`,
      });
  }
  return { problems: explained, warnings };
}

const isMissing = ({ message }: PackProblem) => message.startsWith('is required');
const formatFound = (table: string | undefined) => (table ? ` (found [${table}])` : '');

/** Puts one problem in place of those of all keys of a table that is not there. */
function replaceMissing(problems: PackProblem[], table: string, message: string): PackProblem[] {
  const others = problems.filter((one) => !(isMissing(one) && one.where.startsWith(`${table} `)));
  return others.length === problems.length ? problems : [{ where: 'pyproject.toml', message }, ...others];
}

const CLASSIFIERS = [
  ...['OS Independent', 'Microsoft :: Windows', 'MacOS', 'POSIX :: Linux', 'POSIX', 'Unix'].map(
    (system) => `Operating System :: ${system}`,
  ),
  ...[
    'GPU :: NVIDIA CUDA',
    'GPU :: AMD ROCm',
    'GPU :: Intel Arc',
    'NPU :: Huawei Ascend',
    'GPU :: Apple Metal',
  ].map((device) => `Environment :: ${device}`),
];

/** Finds values that are accepted, but probably cannot be used. */
export function adviseOnValues(
  { project, tool }: Pyproject,
  table: 'comfy' | 'hostui',
  dependencies: readonly string[],
): PackProblem[] {
  const pack = tool[table] ?? {};
  const warn = (key: string, message: string) => [{ where: `[tool.${table}] ${key}`, message }];
  const hosts = (['requires-comfyui', 'requires-hostui'] as const).flatMap((key) =>
    isRange(pack[key] ?? '') ? [] : warn(key, `is ${pack[key]}, which is not a range such as >=0.3.40`),
  );
  const pictures = (['Icon', 'Banner'] as const).flatMap((key) =>
    pack[key] === undefined || /^(?:https?:\/\/|data:)/i.test(pack[key])
      ? []
      : warn(key, `is ${pack[key]}, which is not a URL such as https://example.com/icon.png`),
  );
  const requirements = dependencies.filter((one) => !isRequirement(one));
  const classifiers = (project.classifiers ?? []).flatMap((one) => {
    const near = findClassifier(one);
    return near === undefined ? [] : [{ one, near }];
  });
  return [
    ...requirements.map((one) => ({
      where: '[project] dependencies',
      message: `has ${one}, which is not a requirement such as numpy>=1.26`,
    })),
    ...classifiers.map(({ one, near }) => ({
      where: '[project] classifiers',
      message: `has ${one}, which nothing reads; the nearest one is ${near}`,
    })),
    ...pictures,
    ...hosts,
  ];
}

/** Whether installers understand a dependency, as PEP 508 writes it. An address alone, as pip takes it, is one, too. */
function isRequirement(text: string): boolean {
  if (text.includes('://')) return true;
  const [, rest] =
    /^[a-z0-9][\w.-]*\s*(?:\[[^\]]*\])?(.*)$/is.exec(text.split(';', 1)[0]?.trim() ?? '') ?? [];
  return rest !== undefined && isRange(rest.trim().replace(/^\((.*)\)$/s, '$1'));
}

/** Whether a text is a list of versions, each with an operator, or empty. */
function isRange(text: string): boolean {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every(
    (part) => part === '' || part === '*' || /^(?:[~=!<>]=|===|<>|[<>])?\s*v?\d[\w.*+!-]*$/.test(part),
  );
}

/** Finds the classifier that a mistyped one means, by its last part. */
function findClassifier(text: string): string | undefined {
  const getLast = (classifier: string) => classifier.split(' :: ').at(-1) as string;
  const [first, last] = [text.split(' :: ')[0], getLast(text)];
  const alike = CLASSIFIERS.filter((one) => one.startsWith(`${first} :: `));
  // Such as Operating System :: Microsoft :: Windows :: Windows 11.
  if (alike.some((one) => text.startsWith(`${one} :: `))) return undefined;
  const near = findNearest(last, alike.map(getLast));
  return near === last ? undefined : alike.find((one) => getLast(one) === near);
}
