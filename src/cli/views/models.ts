import type { FieldDescription } from '../../contract/schema/fields.js';
import type { Models as ContractModels } from '../../contract/schema/model-rules.js';
import { videoModels } from '../../contract/video-models.js';
import type { Models } from '../command/command.js';

/** Lists what each model of a request can generate, within the limits of the request's own fields. */
export function listModels({
  model,
  duration,
  resolution,
}: Readonly<Record<string, FieldDescription>>): Models | undefined {
  if (!model?.enum || !duration || !resolution?.enum) return undefined;
  const { minimum = 1, maximum = Number.POSITIVE_INFINITY } = duration;
  const known = resolution.enum.map(String);
  const modes = model.enum.map(String).map((name) => {
    const all = (videoModels as ContractModels)[name]?.modes ?? [];
    const limited = all.map(({ from, to, resolutions }) => ({
      from: Math.max(from, minimum),
      to: Math.min(to, maximum),
      resolutions: resolutions.filter((one) => known.includes(one)),
    }));
    return [name, limited.filter(({ from, to }) => from <= to)] as const;
  });
  return { standard: String(model.default), modes: Object.fromEntries(modes) };
}
