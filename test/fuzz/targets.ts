import { createArchives, createMedia } from './bytes.js';
import { createArguments, createHostileAnswers } from './commands.js';
import { createBegun } from './open-requests.js';
import { createPacks } from './packs.js';
import { createPython } from './python.js';
import { createRequests } from './requests.js';
import { createSizes } from './sizes.js';
import type { Target } from './target.js';
import { createWebhooks } from './webhooks.js';

/** Hides the type of a target's cases, which its runner does not need. */
const load =
  <Case>(create: () => Promise<Target<Case>>) =>
  async () =>
    (await create()) as unknown as Target;

/** Everything that is fuzzed, by the name that --only takes. */
export const targets: Readonly<Record<string, () => Promise<Target>>> = {
  requests: load(createRequests),
  arguments: load(createArguments),
  archives: load(createArchives),
  python: load(createPython),
  packs: load(createPacks),
  images: load(createMedia),
  webhooks: load(createWebhooks),
  answers: load(createHostileAnswers),
  sizes: load(createSizes),
  begun: load(createBegun),
};
