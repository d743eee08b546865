import { getOperation } from '../../contract/index.js';
import type { Operation } from '../../contract/operation.js';
import { describeFields } from '../../contract/schema/fields.js';
import type { ModelMode, Models } from '../../contract/schema/model-rules.js';
import { videoModels } from '../../contract/video-models.js';
import type { PartialLine } from './line.js';

/** Lists the durations or resolutions of the given model, limited to the given resolution or duration. */
export function listModelValues(
  { command, flags }: PartialLine,
  wanted: 'duration' | 'resolution',
): string[] {
  if (!command?.operation) return [];
  const { model, duration, resolution } = describeFields(
    getOperation(command.operation).body as NonNullable<Operation['params']>,
  );
  const modes = (videoModels as Models)[flags.model ?? String(model?.default)]?.modes ?? [];
  if (wanted === 'resolution') {
    const typed = Number(flags.duration);
    const made = selectModes(modes, ({ from, to }) => !flags.duration || (typed >= from && typed <= to));
    return (resolution?.enum ?? [])
      .map(String)
      .filter((one) => made.some((mode) => mode.resolutions.includes(one)));
  }
  const made = selectModes(
    modes,
    ({ resolutions }) => !flags.resolution || resolutions.includes(flags.resolution),
  );
  const { minimum = 1, maximum = 0 } = duration ?? {};
  const seconds = Array.from({ length: maximum - minimum + 1 }, (_, at) => minimum + at);
  return seconds.filter((one) => made.some(({ from, to }) => one >= from && one <= to)).map(String);
}

/** If nothing matches, all modes are offered, because the command explains the mistake better. */
function selectModes(modes: readonly ModelMode[], fits: (mode: ModelMode) => boolean): readonly ModelMode[] {
  const found = modes.filter(fits);
  return found.length > 0 ? found : modes;
}
