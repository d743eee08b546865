import { resolve } from 'node:path';
import { WireFormat } from '../../client/wire-format.js';
import type { Naming } from '../../contract/naming/naming.js';
import { regen, say } from '../../contract/schema/message.js';
import { MAX_GIVEN_BYTES, readFolderFile } from '../../disk/folder-file.js';
import { usage } from '../terminal/failure.js';
import type { ProfileOrAddress, Settings } from './settings.js';

/** The names of a service, as an option of its client. */
export interface ServiceNames {
  /** Undefined for the names of the contract. */
  readonly naming: Naming | undefined;
}

/** Loads how services write requests and answers whose naming is known without a file. */
export async function loadFormat(name: 'comfy'): Promise<WireFormat> {
  const { loadNaming } = await import('../../contract/naming/load-naming.js');
  return new WireFormat({ naming: await loadNaming(name, () => '') });
}

/**
 * Reads the names of a service: those of its profile. An address alone has the names of the profiles with this address.
 * @param cwd what the path of a naming file is relative to
 * @throws Failure if the profiles have different ones, or if they cannot be read
 */
export async function readNames(
  cwd: string,
  settings: Settings,
  service: ProfileOrAddress,
): Promise<ServiceNames> {
  const profiles = settings.listProfiles(service);
  const found = profiles.map((name) => settings.get(`profiles.${name}.naming`));
  if (new Set(found.map((one) => one?.value ?? 'regen')).size > 1)
    throw usage(
      `${service.baseUrl} is the address of the profiles ${profiles.join(' and ')}, which have different namings.`,
      `Name the profile instead of the address: --profile ${profiles[0]}`,
    );
  const [setting] = found;
  if (!setting) return { naming: undefined };
  const { InvalidNaming, loadNaming } = await import('../../contract/naming/load-naming.js');
  const readFile = (path: string) => readFolderFile(resolve(cwd, path), MAX_GIVEN_BYTES).toString();
  try {
    return { naming: await loadNaming(setting.value, readFile) };
  } catch (error) {
    const hint = say`Set it to comfy, or to the path of a naming file: ${regen('config set', `${setting.key} comfy`)}`;
    if (error instanceof InvalidNaming) {
      const details = error.problems.map(({ path, message }) => ({ path: path.join('.'), message }));
      throw usage(`The naming ${setting.value} is not valid.`, hint, details);
    }
    throw usage(`Could not read the naming ${setting.value}: ${(error as Error).message}.`, hint);
  }
}
