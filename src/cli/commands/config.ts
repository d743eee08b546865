import { regen, say } from '../../contract/schema/message.js';
import type { CommandContext, RunCommand } from '../connect/context.js';
import { checkKey } from '../connect/settings.js';
import { Failure } from '../terminal/failure.js';

export const run: Readonly<Record<string, RunCommand>> = {
  get: printSetting,
  set: ({ settings, args }) => settings.set(args.key as string, args.value as string),
  unset: ({ settings, args }) => settings.unset(args.key as string),
  list: ({ settings, output, command }) => output.answer(settings.list(), command.shape),
  path: ({ settings, output }) => output.answer({ path: settings.store.path }, { only: 'path' }),
};

async function printSetting({ settings, output, args }: CommandContext): Promise<void> {
  const key = args.key as string;
  checkKey(key);
  const setting = settings.get(key);
  if (setting) return output.answer(setting, { only: 'value' });
  throw new Failure(`${key} is not set.`, {
    code: 'not_set',
    hint: say`Set it with: ${regen('config set', `${key} <value>`)}`,
  });
}
