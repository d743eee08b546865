import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ConfigurationInput } from '../../src/service/configuration/configuration.js';
import type { ServiceParts } from '../../src/service/serve.js';
import { folderForTest, serviceForTest } from './service.js';

/** The workflows that the documentation has as examples. */
export const exampleWorkflows = 'examples/comfyui';

/** Writes workflows into a folder, by the names of their operations. */
export function writeWorkflows(workflows: Readonly<Record<string, object>>): string {
  const folder = join(folderForTest(), 'workflows');
  mkdirSync(folder);
  for (const [name, graph] of Object.entries(workflows))
    writeFileSync(join(folder, `${name}.json`), JSON.stringify(graph));
  return folder;
}

/** The smallest workflow that takes an image and saves it. */
export const smallestGraph = {
  '1': { class_type: 'LoadImage', inputs: { image: '{{image}}' } },
  '2': { class_type: 'SaveImage', inputs: { images: ['1', 0], filename_prefix: 'relit' } },
};

interface ComfyUiGiven {
  readonly url: string;
  readonly workflows?: string;
  readonly kind?: 'image' | 'video';
  /** Settings of the engine that the test overrides. */
  readonly settings?: object;
}

/** The configuration of a service with ComfyUI for images or videos. */
export function createComfyUiConfiguration({
  url,
  workflows = exampleWorkflows,
  kind = 'image',
  settings,
}: ComfyUiGiven): ConfigurationInput {
  const engine = { engine: 'comfyui', baseUrl: url, workflows, pollMs: 20, ...settings } as const;
  return { generation: { [kind]: engine }, prices: { image: { relight: 5 } } };
}

/** A service with ComfyUI for images or videos. @returns it, and how its owner asks it */
export async function comfyUiServiceForTest(
  given: ComfyUiGiven,
  input: ConfigurationInput = {},
  parts: ServiceParts = {},
) {
  const service = await serviceForTest({ ...createComfyUiConfiguration(given), ...input }, parts);
  return { service, asking: { url: service.url, token: service.ownerToken } };
}
