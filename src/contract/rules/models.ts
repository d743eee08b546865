import type { JsonSchema } from '../json-schema.js';
import type { Problem } from '../problems.js';
import { listed, type Rule } from './rule.js';

/** What a model makes at some durations, in whole seconds. */
export interface Mode {
  readonly from: number;
  readonly to: number;
  /** From the smallest to the largest. */
  readonly resolutions: readonly string[];
  readonly defaultResolution: string;
}

/** What a model makes, by duration; the modes' durations do not overlap. */
export interface Model {
  readonly modes: readonly Mode[];
  readonly defaultDuration: number;
}

export type Models = Readonly<Record<string, Model>>;

/** `duration` and `resolution` are among those that `model` makes. */
export function limitsByModel(models: Models, sizes: readonly string[], defaultModel: string): Rule {
  return {
    fields: ['model', 'duration', 'resolution'],
    sentence: `By model: ${Object.entries(models).map(describe).join('; ')}.`,
    schema: {
      allOf: Object.entries(models).flatMap(([name, model]) =>
        conditions(name, model, name === defaultModel),
      ),
    },
    problems(value) {
      const { model: name = defaultModel } = value;
      const model = typeof name === 'string' && Object.hasOwn(models, name) ? models[name] : undefined;
      if (!model) return [];
      const { duration, resolution } = value;
      const asked = { name: name as string, model, sizes };
      return [
        ...(typeof duration === 'number' && Number.isInteger(duration)
          ? durationProblems(asked, duration)
          : []),
        ...(typeof resolution === 'string' ? resolutionProblems(asked, duration, resolution) : []),
      ];
    },
  };
}

/** The mode of a duration; absent: of the model's default one. `undefined` where the model has none for it. */
export function modeOf({ modes, defaultDuration }: Model, duration = defaultDuration): Mode | undefined {
  return modes.find(({ from, to }) => duration >= from && duration <= to);
}

interface Asked {
  readonly name: string;
  readonly model: Model;
  readonly sizes: readonly string[];
}

function durationProblems({ name, model }: Asked, duration: number): Problem[] {
  if (modeOf(model, duration)) return [];
  const bounds = model.modes.flatMap(({ from, to }) => [from, to]);
  const nearest = closest(bounds, (bound) => Math.abs(bound - duration));
  return [{ path: ['duration'], message: mustBe(durations(model), `with ${name}`, bounds, nearest) }];
}

function resolutionProblems({ name, model, sizes }: Asked, duration: unknown, resolution: string): Problem[] {
  const mode = modeOf(model, typeof duration === 'number' ? duration : undefined);
  const all = new Set(model.modes.flatMap(({ resolutions }) => resolutions));
  const allowed = mode?.resolutions ?? sizes.filter((size) => all.has(size));
  if (allowed.includes(resolution)) return [];
  const at = model.modes.length > 1 && mode ? ` at ${mode.from} s` : '';
  const rank = sizes.indexOf(resolution);
  const nearest = rank < 0 ? undefined : closest(allowed, (size) => Math.abs(sizes.indexOf(size) - rank));
  const message = mustBe(listed(allowed, 'or'), `with ${name}${at}`, allowed, nearest);
  return [{ path: ['resolution'], message }];
}

function mustBe(choices: string, where: string, all: readonly unknown[], nearest: unknown): string {
  const hint = nearest === undefined || new Set(all).size === 1 ? '' : `; ${nearest} is the nearest`;
  return `must be ${choices} ${where}${hint}`;
}

function closest<Value>(values: readonly Value[], distance: (value: Value) => number): Value | undefined {
  return [...values].sort((one, other) => distance(one) - distance(other))[0];
}

/** `1 to 8`, `5`, `4 or 8`. */
function durations({ modes }: Model): string {
  return listed(
    modes.map(({ from, to }) => (from === to ? from : `${from} to ${to}`)),
    'or',
  );
}

function describe([name, model]: [string, Model]): string {
  const sizes = model.modes.map(({ from, resolutions }) =>
    model.modes.length > 1 ? `${resolutions.join(', ')} at ${from} s` : resolutions.join(', '),
  );
  return `${name} ${durations(model)} s, ${listed(sizes, 'and')}`;
}

/** A condition without `required` holds for an absent field too: that is how defaults are said. */
function conditions(name: string, model: Model, isDefault: boolean): JsonSchema[] {
  const needsModel = isDefault ? [] : ['model'];
  const ofModel = { properties: { model: { const: name } }, required: needsModel };
  const anyDuration = model.modes.map(({ from, to }) => ({ minimum: from, maximum: to }));
  const duration = anyDuration.length === 1 ? anyDuration[0] : { anyOf: anyDuration };
  const bySize = model.modes.map((mode) => ({
    if: {
      properties: { model: { const: name }, duration: { minimum: mode.from, maximum: mode.to } },
      required: mode === modeOf(model) ? needsModel : [...needsModel, 'duration'],
    },
    // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
    then: { properties: { resolution: { enum: mode.resolutions } } },
  }));
  // biome-ignore lint/suspicious/noThenProperty: JSON Schema's own word
  return [{ if: ofModel, then: { properties: { duration } } }, ...bySize];
}
