import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import type { RunningService, ServiceParts } from '../../src/service/serve.js';
import { folderForTest, serviceForTest } from './service.js';

export interface VendorGiven {
  readonly url: string;
  readonly key: string;
  /** The vendor settings that the test overrides. */
  readonly settings?: object & { readonly models?: Record<string, string> };
}

/** The configuration of a service with a vendor for images and videos. */
export function createVendorConfiguration({ url, key, settings = {} }: VendorGiven): ConfigurationInput {
  const file = join(folderForTest(), 'vendor.key');
  writeFileSync(file, `${key}\n`);
  const { models, ...shared } = settings;
  const vendor = { engine: 'upstream', key: { file }, pollMs: 20, ...shared } as const;
  return {
    generation: {
      image: { ...vendor, baseUrl: `${url}/proxy/imagevendor` },
      video: { ...vendor, baseUrl: `${url}/proxy/videovendor`, ...(models && { models }) },
    },
  };
}

/** The settings of an engine that is the vendor of a profile. */
export function createVendorSettings(
  vendor: string,
  { url: baseUrl, key }: Pick<VendorGiven, 'url' | 'key'>,
) {
  const file = join(folderForTest(), 'vendor.key');
  writeFileSync(file, key);
  return { engine: 'upstream', vendor, baseUrl, key: { file }, pollMs: 20 } as const;
}

/** A service whose images or videos are made by the vendor of a profile, called as its owner. */
export async function profileServiceForTest(
  kind: 'image' | 'video',
  vendor: string,
  given: Pick<VendorGiven, 'url' | 'key'>,
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
) {
  const settings = createVendorSettings(vendor, given);
  const service = await serviceForTest({ generation: { [kind]: settings }, ...input }, parts);
  return { service, asking: { url: service.url, token: service.ownerToken } };
}

/** Writes a profile that extends another. @returns its path */
export function writeProfile(fields: object): string {
  const path = join(folderForTest(), 'mine.json');
  writeFileSync(path, JSON.stringify(fields));
  return path;
}

/** A service with a vendor for images and videos. */
export function vendorServiceForTest(
  vendor: VendorGiven,
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
): Promise<RunningService> {
  return serviceForTest({ ...createVendorConfiguration(vendor), ...input }, parts);
}
