import type { OperationName } from '../../contract/index.js';
import type { KeptNode } from './uplink-kept.js';
import type { VersionRules } from './uplink-rules.js';
import type { NodeView, VersionView } from './views.js';

/** A version as it is answered here. */
export type Adopt = (version: VersionView) => VersionView;

/** A read of a node that the registry behind this one answers if it is not held here. */
interface Mirror {
  /** Replaces the addresses of archives in an answer. Absent: it has none. */
  readonly adopt?: (answer: unknown, adopt: Adopt) => unknown;
  /** Leaves out the versions that the rules do not offer. @param readAll all versions of the node */
  readonly offer?: (answer: unknown, rules: VersionRules, readAll: () => Promise<VersionView[]>) => unknown;
  /** Answers with what is known, without the other registry. @param spellings of the wanted version */
  readonly recall?: (kept: KeptNode, spellings: readonly string[]) => unknown;
  /** A version that was served once stays what it was. */
  readonly isPinned?: true;
}

const adoptVersion: Mirror['adopt'] = (answer, adopt) => adopt(answer as VersionView);
const findVersion = ({ versions }: KeptNode, spellings: readonly string[]) =>
  spellings.map((spelling) => versions.find(({ version }) => version === spelling)).find(Boolean);

export const MIRRORS: Partial<Record<OperationName, Mirror>> = {
  'node.get': {
    adopt: (answer, adopt) => {
      const { latest_version: latest, ...node } = answer as NodeView;
      return { ...node, ...(latest && { latest_version: adopt(latest) }) };
    },
    offer: async (answer, rules, readAll) => {
      const { latest_version, ...node } = answer as NodeView;
      return { ...node, latest_version: await rules.chooseLatest(latest_version, readAll) };
    },
    recall: ({ node, versions }) => ({ ...node, latest_version: versions[0] }),
  },
  'node.install': {
    adopt: adoptVersion,
    offer: (answer, rules, readAll) => rules.requireLatest(answer as VersionView, readAll),
    recall: (kept, spellings) => (spellings.length === 0 ? kept.versions[0] : findVersion(kept, spellings)),
    isPinned: true,
  },
  'version.list': {
    adopt: (answer, adopt) => (answer as VersionView[]).map(adopt),
    offer: (answer, rules) => rules.select(answer as VersionView[]),
    recall: ({ versions }) => versions,
  },
  'version.get': {
    adopt: adoptVersion,
    offer: (answer, rules) => rules.require(answer as VersionView),
    recall: findVersion,
  },
  'hostNodes.list': {},
  'hostNodes.get': {},
};
