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
const hideCaseType =
  <Case>(create: () => Promise<Target<Case>>) =>
  async () =>
    (await create()) as unknown as Target;

/** Everything that is fuzzed, by the name that --only takes. */
export const targets: Readonly<Record<string, () => Promise<Target>>> = {
  requests: hideCaseType(createRequests),
  arguments: hideCaseType(createArguments),
  archives: hideCaseType(createArchives),
  python: hideCaseType(createPython),
  packs: hideCaseType(createPacks),
  images: hideCaseType(createMedia),
  webhooks: hideCaseType(createWebhooks),
  answers: hideCaseType(createHostileAnswers),
  sizes: hideCaseType(createSizes),
  begun: hideCaseType(createBegun),
};
