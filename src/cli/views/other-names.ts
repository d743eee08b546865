import comfy from '../../contract/naming/comfy.json' with { type: 'json' };
import { Naming } from '../../contract/naming/naming.js';
import type { NamingMap } from '../../contract/naming/naming-map.js';
import { shortenStatus } from '../../contract/status-names.js';
import type { Flag } from '../command/command.js';
import { toKebabCase } from '../command/flags.js';

/** One name for why a status was set, whatever its field is called; the field's name is a hidden flag. */
const SHORTER_NAMES: Readonly<Record<string, string>> = {
  'status-reason': 'reason',
  'status-detail': 'reason',
};

export const chooseFlagName = (name: string) => SHORTER_NAMES[name] ?? name;

const naming = new Naming(comfy as unknown as NamingMap);

/** The other names of flags and their values, such as those on a profile with the naming comfy: hidden flags, and a sentence. */
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
  const longer = flags.flatMap((flag) => {
    const name = toKebabCase(flag.target?.at(-1) ?? '');
    return name in SHORTER_NAMES ? [{ ...flag, name, hidden: true }] : [];
  });
  return { flags: [...renamed.map(({ alias }) => alias), ...longer], notes };
}
