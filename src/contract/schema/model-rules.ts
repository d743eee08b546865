import { joinTexts, type Message, say } from './message.js';
import type { Rule } from './rule.js';
import type { JsonSchema, Problem } from './schema-types.js';

/** The resolutions of a model for a range of durations, in whole seconds. */
export interface ModelMode {
  readonly from: number;
  readonly to: number;
  /** In ascending order. */
  readonly resolutions: readonly string[];
  readonly defaultResolution: string;
}

/** What a model can generate. The durations of its modes do not overlap. */
export interface Model {
  readonly modes: readonly ModelMode[];
  readonly defaultDuration: number;
}

export type Models = Readonly<Record<string, Model>>;

/** `duration` and `resolution` must be among those of `model`. */
export function limitByModel(models: Models, sizes: readonly string[], defaultModel: string): Rule {
  return {
    fields: ['model', 'duration', 'resolution'],
    sentence: say`By ${{ field: 'model' }}: ${joinTexts(Object.entries(models).map(describeModel), '; ')}.`,
    schema: {
      allOf: Object.entries(models).flatMap(([name, model]) =>
        buildConditions(name, model, name === defaultModel),
      ),
    },
    problems(value) {
      const { model: name = defaultModel } = value;
      const model = typeof name === 'string' && Object.hasOwn(models, name) ? models[name] : undefined;
      if (!model) return [];
      const { duration, resolution } = value;
      const limits = { name: name as string, model, sizes };
      return [
        ...(typeof duration === 'number' && Number.isInteger(duration)
          ? findDurationProblems(limits, duration)
          : []),
        ...(typeof resolution === 'string' ? findResolutionProblems(limits, duration, resolution) : []),
      ];
    },
  };
}

/** Finds the mode for a duration, by default the default duration; undefined if the model has none. */
export function findMode(
  { modes, defaultDuration }: Model,
  duration = defaultDuration,
): ModelMode | undefined {
  return modes.find(({ from, to }) => duration >= from && duration <= to);
}

interface NamedModel {
  readonly name: string;
  readonly model: Model;
  readonly sizes: readonly string[];
}

function findDurationProblems({ name, model }: NamedModel, duration: number): Problem[] {
  if (findMode(model, duration)) return [];
  const bounds = model.modes.flatMap(({ from, to }) => [from, to]);
  const nearest = findNearest(bounds, (bound) => Math.abs(bound - duration));
  return [
    {
      path: ['duration'],
      message: formatMustBe(formatDurations(model), say`with ${{ value: name }}`, bounds, nearest),
    },
  ];
}

function findResolutionProblems(
  { name, model, sizes }: NamedModel,
  duration: unknown,
  resolution: string,
): Problem[] {
  const mode = findMode(model, typeof duration === 'number' ? duration : undefined);
  const all = new Set(model.modes.flatMap(({ resolutions }) => resolutions));
  const allowed = mode?.resolutions ?? sizes.filter((size) => all.has(size));
  if (allowed.includes(resolution)) return [];
  const at = model.modes.length > 1 && mode ? ` at ${mode.from} s` : '';
  const rank = sizes.indexOf(resolution);
  const nearest = rank < 0 ? undefined : findNearest(allowed, (size) => Math.abs(sizes.indexOf(size) - rank));
  const message = formatMustBe(joinWords(allowed, 'or'), say`with ${{ value: name }}${at}`, allowed, nearest);
  return [{ path: ['resolution'], message }];
}

function formatMustBe(choices: string, where: Message, all: readonly unknown[], nearest: unknown): Message {
  const hint = nearest === undefined || new Set(all).size === 1 ? '' : `; ${nearest} is the nearest`;
  return say`must be ${choices} ${where}${hint}`;
}

function findNearest<Value>(values: readonly Value[], distance: (value: Value) => number): Value | undefined {
  return [...values].sort((one, other) => distance(one) - distance(other))[0];
}

/** `a`, `a or b`, `a, b or c`. */
function joinWords(words: readonly (string | number)[], joint: 'and' | 'or'): string {
  if (words.length < 2) return words.join('');
  return `${words.slice(0, -1).join(', ')} ${joint} ${words.at(-1)}`;
}

/** `1 to 8`, `5`, `4 or 8`. */
function formatDurations({ modes }: Model): string {
  return joinWords(
    modes.map(({ from, to }) => (from === to ? from : `${from} to ${to}`)),
    'or',
  );
}

function describeModel([name, model]: [string, Model]): Message {
  const sizes = model.modes.map(({ from, resolutions }) =>
    model.modes.length > 1 ? `${resolutions.join(', ')} at ${from} s` : resolutions.join(', '),
  );
  return say`${{ value: name }} ${formatDurations(model)} s, ${joinWords(sizes, 'and')}`;
}

/** A condition without `required` also applies to an absent field, which expresses the default. */
function buildConditions(name: string, model: Model, isDefault: boolean): JsonSchema[] {
  const needsModel = isDefault ? [] : ['model'];
  const ofModel = { properties: { model: { const: name } }, required: needsModel };
  const anyDuration = model.modes.map(({ from, to }) => ({ minimum: from, maximum: to }));
  const duration = anyDuration.length === 1 ? anyDuration[0] : { anyOf: anyDuration };
  const bySize = model.modes.map((mode) => ({
    if: {
      properties: { model: { const: name }, duration: { minimum: mode.from, maximum: mode.to } },
      required: mode === findMode(model) ? needsModel : [...needsModel, 'duration'],
    },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { resolution: { enum: mode.resolutions } } },
  }));
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return [{ if: ofModel, then: { properties: { duration } } }, ...bySize];
}
