import { z } from 'zod';
import { Node } from '../contract/node.js';
import { NodeVersion } from '../contract/node-version.js';
import { PublisherId } from '../contract/schema/identifiers.js';

const supported = {
  supported_accelerators: true,
  supported_hostui_frontend_version: true,
  supported_hostui_version: true,
  supported_os: true,
} as const;

const about = { author: true, category: true, description: true, license: true, tags: true } as const;
const addresses = { banner_url: true, icon: true, repository: true } as const;

/** What the service accepts of a manifest. `manifest.generated.json` is derived from this. */
export const MANIFEST_SCHEMAS = {
  publisher: z.object({ publisher: PublisherId }),
  /** Of a registry with other rules for ids of publishers. */
  anyPublisher: z.object({ publisher: z.string().min(1).max(1024) }),
  node: Node.pick({ id: true, name: true, ...about, ...addresses, ...supported }).required({
    id: true,
    name: true,
  }),
  version: NodeVersion.pick({ version: true, dependencies: true, ...supported }).required({ version: true }),
};
