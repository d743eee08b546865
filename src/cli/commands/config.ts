import type { CommandContext } from '../connect/context.js';
import { checkKey } from '../connect/settings.js';
import { Failure } from '../terminal/failure.js';

/** `config get`, `set`, `unset`, `list` and `path`. */
export async function run(context: CommandContext): Promise<void> {
  const { command, settings, output, args } = context;
  const key = args.key as string;
  switch (command.words.at(-1)) {
    case 'get':
      return printSetting(context, key);
    case 'set':
      return settings.set(key, args.value as string);
    case 'unset':
      return settings.unset(key);
    case 'list':
      return output.answer(settings.list(), command.shape);
    default:
      return output.answer({ path: settings.store.path }, { only: 'path' });
  }
}

async function printSetting({ settings, output }: CommandContext, key: string): Promise<void> {
  checkKey(key);
  const setting = settings.get(key);
  if (setting) return output.answer(setting, { only: 'value' });
  throw new Failure(`${key} is not set.`, {
    code: 'not_set',
    hint: `Set it with: regen config set ${key} <value>`,
  });
}
