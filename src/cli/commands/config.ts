import { z } from 'zod';
import { regen, say } from '../../contract/schema/message.js';
import type { Needs, RunCommand } from '../connect/context.js';
import { checkKey } from '../connect/settings.js';
import { Failure, usage } from '../terminal/failure.js';
import { Text } from '../views/answers.js';
import type { View } from '../views/view.js';

const settingExplain = {
  value: 'New value',
  key: 'profile, autostart, ca_file, confirm_credits, credential_store, or base_url, allow_http or naming of profiles.<name>, such as profiles.work.base_url',
};

export function view(): View[] {
  const Setting = z.object({ key: Text, value: Text, source: Text });
  return [
    {
      usage: 'config get <key>',
      local: true,
      summary: 'Print one setting',
      explain: settingExplain,
      answer: Setting,
    },
    {
      usage: 'config set <key> <value>',
      local: true,
      summary: 'Change a setting',
      explain: settingExplain,
      examples: [
        'regen config set profiles.team.base_url https://registry.example.com',
        'regen config set profile team',
        'regen config set confirm_credits 50',
      ],
    },
    {
      usage: 'config unset <key>',
      local: true,
      summary: 'Reset a setting to its default',
      explain: settingExplain,
    },
    {
      usage: 'config list',
      local: true,
      summary: 'List every setting and where its value comes from',
      shape: { columns: ['key', 'value', 'source'] },
      answer: z.array(Setting),
    },
    {
      usage: 'config path',
      local: true,
      summary: 'Print the path of the settings file',
      answer: z.object({ path: Text }),
    },
  ];
}

export const run: Readonly<Record<string, RunCommand>> = {
  get: printSetting,
  set: ({ settings, args }) => settings.set(args.key as string, args.value as string),
  unset: unsetSetting,
  list: ({ settings, output, command }) => output.answer(settings.list(), command.shape),
  path: ({ settings, output }) => output.answer({ path: settings.store.path }, { only: 'path' }),
};

/** @throws Failure if the address of a profile is needed to remove its stored credentials */
async function unsetSetting({
  settings,
  services,
  args,
}: Needs<'args' | 'settings' | 'services'>): Promise<void> {
  const key = args.key as string;
  const [, profile] = /^profiles\.(.+)\.base_url$/.exec(key) ?? [];
  const baseUrl = settings.get(key)?.value;
  if (profile !== undefined && baseUrl !== undefined) {
    const target = { name: profile, baseUrl, source: key };
    const own = services.openCredentialStore({ ...target, profile });
    // Credentials of the address alone are found without the profile.
    const isOwn = own.path !== services.openCredentialStore(target).path;
    if (isOwn && Object.keys(await own.read()).length > 0)
      throw usage(
        `The profile ${profile} has stored credentials.`,
        say`Remove them first with: ${regen('auth logout', `--profile ${profile}`)}`,
      );
  }
  await settings.unset(key);
}

async function printSetting({
  settings,
  output,
  args,
}: Needs<'args' | 'output' | 'settings'>): Promise<void> {
  const key = args.key as string;
  checkKey(key);
  const setting = settings.get(key);
  if (setting) return output.answer(setting, { only: 'value' });
  throw new Failure(`${key} is not set.`, {
    code: 'not_set',
    hint: say`Set it with: ${regen('config set', `${key} <value>`)}`,
  });
}
