import comfy from '../../contract/naming/comfy.json' with { type: 'json' };
import { Naming } from '../../contract/naming/naming.js';
import type { NamingMap } from '../../contract/naming/naming-map.js';
import { shortenStatus } from '../../contract/status-names.js';
import type { Flag } from '../command/command.js';
import { toKebabCase } from '../command/flags.js';

const naming = new Naming(comfy as unknown as NamingMap);

/** The names that flags and their values have on a profile with the naming comfy: hidden flags, and a sentence. */
export function listOtherNames(flags: readonly Flag[]): {
  readonly flags: readonly Flag[];
  readonly notes: readonly string[];
} {
  const renamed = flags.flatMap((flag) => {
    const field = flag.target?.at(-1) ?? '';
    const theirs = naming.translateField(field);
    if (theirs === field) return [];
    return [{ flag, alias: { ...flag, name: toKebabCase(theirs), hidden: true } }];
  });
  const values = flags.flatMap(({ target = [], choices = [] }) =>
    choices
      .filter((choice) => shortenStatus(choice) === undefined)
      .map((choice) => [choice, naming.renameWord(target.at(-1) ?? '', choice, 'theirs')] as const),
  );
  const pairs = [
    ...renamed.map(({ flag, alias }) => [`--${flag.name}`, `--${alias.name}`] as const),
    ...values.filter(([ours, theirs]) => ours !== theirs),
  ].map(([ours, theirs]) => `${theirs} for ${ours}`);
  const notes = pairs.length > 0 ? [`On a profile with the naming comfy, write ${pairs.join(', ')}.`] : [];
  return { flags: renamed.map(({ alias }) => alias), notes };
}
