import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import { homeForTest, type Ran, regen } from './cli.js';
import { type PackFacts, packForTest } from './packs.js';
import { folderForTest, publisherForTest, serviceForTest } from './service.js';

/** A registry in which acme has published packs. */
export async function packRegistryForTest(packs: readonly PackFacts[], input: ConfigurationInput = {}) {
  const service = await serviceForTest(input);
  const { personalAccessToken } = await publisherForTest(service);
  const owner = { REGEN_BASE_URL: service.url, REGEN_TOKEN: service.ownerToken };
  /** Publishes versions of different nodes, and waits until they are Active. */
  const publish = async (...facts: PackFacts[]) => {
    const env = { ...owner, REGEN_PUBLISH_TOKEN: personalAccessToken };
    const { exit, stderr } = await regen(['version', 'publish', ...facts.map(packForTest)], { env });
    if (exit !== 0) throw new Error(stderr);
  };
  if (packs.length > 0) await publish(...packs);
  return { service, owner, publish, anyone: { REGEN_BASE_URL: service.url } };
}

/** A host application's folder, with what runs commands on its custom_nodes, and the user's HOME. */
export function hostForTest(env: Record<string, string>) {
  const cwd = folderForTest();
  const home = homeForTest();
  const customNodes = join(cwd, 'custom_nodes');
  mkdirSync(customNodes);
  const run = (argv: readonly string[], more: Record<string, string> = {}): Promise<Ran> =>
    regen(argv, { cwd, home, env: { ...env, ...more } });
  /** `node <command> …`, with `--into` and `--json`. */
  const change = async (command: string, ...argv: string[]) => {
    const ran = await run(['node', command, ...argv, '--into', 'custom_nodes', '--json']);
    return { ...ran, answer: ran.exit === 0 ? JSON.parse(ran.stdout) : undefined };
  };
  return { cwd, home, customNodes, run, change };
}
