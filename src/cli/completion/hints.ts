import type { Argument, Command, Flag } from '../command/command.js';
import type { LiveKind } from './readers.js';

/** Where the values of a flag or positional come from. */
export type Hint = 'file' | 'folder' | 'duration' | 'resolution' | LiveKind;

/** Hints by field or placeholder of a flag, or name of a positional. */
const HINTS: Readonly<Record<string, Hint>> = {
  path: 'file',
  folder: 'folder',
  dir: 'folder',
  image: 'file',
  images: 'file',
  reference_image: 'file',
  publisherId: 'publisher',
  nodeId: 'node',
  node_id: 'node',
  version: 'version',
  versionId: 'version',
  node_version: 'version',
  from: 'version',
  to: 'version',
  profile: 'profile',
  task_id: 'task',
  deliveryId: 'delivery',
};

/** Chooses where the values of an input come from; undefined if it has no completion, or choices of its own. */
export function chooseHint(input: Flag | Argument, command: Command | undefined): Hint | undefined {
  const field = input.target?.at(-1);
  if (command?.models && (field === 'duration' || field === 'resolution')) return field;
  if ('choices' in input && input.choices) return undefined;
  // The id of a new node or publisher is not one of the existing ids.
  if (/^(init|create)$/.test(command?.words.at(-1) ?? '') && input.name === 'id') return undefined;
  const names = [field, 'value' in input ? input.value : undefined, input.name];
  return names.flatMap((name) => (name && HINTS[name]) || [])[0];
}
