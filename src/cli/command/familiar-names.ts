import { joinTexts, regen, say, type Text } from '../../contract/schema/message.js';
import type { CommandTree } from './command.js';

/** Names that other programs use for commands of this one. */
const FAMILIAR_NAMES: Readonly<Record<string, string>> = {
  publish: 'version publish',
  pack: 'version pack',
  login: 'auth login',
  adduser: 'auth login',
  logout: 'auth logout',
  whoami: 'auth status',
  search: 'node search',
  view: 'node get',
  browse: 'open',
  ping: 'doctor',
  init: 'node init',
  install: 'node install',
  outdated: 'node outdated',
  audit: 'node audit',
  diff: 'version diff',
  deprecate: 'version deprecate',
  unpublish: 'version delete',
  uninstall: 'node remove',
  upgrade: 'node install',
  update: 'node install',
  logs: 'serve logs',
  'serve start': 'serve',
  'serve restart': 'serve stop, serve',
  'serve reload': 'serve stop, serve',
  listen: 'webhook listen',
  trigger: 'webhook trigger',
  prices: 'video prices',
  'image prices': 'video prices',
  upscale: 'image upscale',
  'webhook list': 'webhook deliveries',
  'auth whoami': 'auth status',
  'admin version ban': 'admin version set-status',
  'node ls': 'node outdated',
  'node show': 'node get',
  'node publish': 'version publish',
  'node uninstall': 'node remove',
  'node upgrade': 'node install',
  'node view': 'node get',
  'node info': 'node get',
  'version show': 'version get',
  'version yank': 'version deprecate',
};

export function suggestCommand(argv: readonly string[]): Text | undefined {
  const meant = [3, 2, 1]
    .map((count) => argv.slice(0, count))
    .find((words) => Object.hasOwn(FAMILIAR_NAMES, words.join(' ')));
  const commands = meant && FAMILIAR_NAMES[meant.join(' ')]?.split(', ').map((words) => regen(words));
  return commands && say`Did you mean: ${joinTexts(commands, ', then ')}`;
}

/** For an option of other programs that takes a token: here it would be in the list of processes and in logs. */
export function suggestToken(option: string, path: string, { commands }: CommandTree): Text | undefined {
  const command = commands.find(({ words }) => words.join(' ') === path);
  if (!command?.takes.includes('service') || !/^--([\w-]+-)?(token|password|key|pat)$/.test(option))
    return undefined;
  if (path === 'auth login')
    return say`No option takes a token. Pass it on standard input: ${regen(path, '--with-token < token.txt')}`;
  if (path === 'version publish') return 'No option takes a token. Set REGEN_PUBLISH_TOKEN.';
  return 'No option takes a token. Set REGEN_TOKEN, or name a file that contains it with --token-file.';
}
