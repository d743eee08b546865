import type { Flag } from '../command/command.js';
import type { View } from './view.js';

const publisher: Flag = {
  name: 'publisher',
  value: 'publisherId',
  description: "Publisher, in place of the manifest's PublisherId",
};
const allowSecrets: Flag = {
  name: 'allow-secrets',
  description: 'Pack files that look like secrets all the same',
};

export const versionViews: readonly View[] = [
  {
    usage: 'version publish [dir...]',
    module: 'publish',
    summary: 'Pack a folder, publish it as a new version and wait for what the registry thinks',
    explain: {
      dir: 'Folder with the pyproject.toml; the current one where absent. Of several, those that can be are published',
    },
    changes: true,
    flags: [
      publisher,
      { name: 'changelog', value: 'text', description: 'Summary of changes in this version' },
      {
        name: 'changelog-file',
        value: 'path',
        description: "The same from a file, or '-' for standard input",
      },
      allowSecrets,
      { name: 'allow-findings', description: 'Publish although a finding would flag the version' },
      { name: 'skip-existing', description: 'End well when this very version is already published' },
      { name: 'no-wait', description: 'Return once the archive is uploaded' },
      {
        name: 'concurrency',
        value: 'number',
        description: 'Of several folders, how many at a time (1 to 16; default 3)',
      },
      {
        name: 'timeout',
        value: 'duration',
        description: 'How long to wait for the registry, such as 90s or 30m (default 30m)',
      },
    ],
    examples: [
      'regen version publish',
      'regen version publish packs/light --changelog-file CHANGES.md --skip-existing',
      'regen version publish packs/* --concurrency 4 --skip-existing',
    ],
  },
  {
    usage: 'version pack [dir]',
    module: 'pack',
    local: true,
    shape: { columns: ['size', 'path'] },
    summary: 'Write the archive that publish would upload, and send nothing',
    explain: { dir: 'Folder with the pyproject.toml; the current one where absent' },
    flags: [
      { name: 'list', description: 'Write nothing; list each file with its size in bytes' },
      {
        name: 'output',
        short: 'o',
        value: 'path',
        description: 'File or folder/ to write it to (default <node>-<version>.zip)',
      },
      { name: 'force', description: 'Write over an existing file' },
      allowSecrets,
    ],
    examples: ['regen version pack --list', 'regen version pack packs/light -o light.zip'],
  },
  {
    usage: 'version check [dir]',
    module: 'check',
    local: true,
    summary:
      'Say what the registry will see and think of a pack, and send nothing; exit 6 when it would be flagged',
    explain: { dir: 'Folder with the pyproject.toml; the current one where absent' },
    flags: [publisher, allowSecrets],
    shape: { columns: ['kind', 'what', 'where', 'detail'] },
    examples: ['regen version check', 'regen version check packs/light --json'],
  },
  {
    usage: 'version diff <nodeId> <from> <to>',
    module: 'diff',
    summary: 'Compare the node definitions of two versions, and say what breaks workflows',
    shape: { columns: ['host_node_name', 'change', 'detail', 'breaks'] },
    examples: ['regen version diff light-tools 1.1.0 1.2.0'],
  },
  {
    usage: 'version update <publisherId> <nodeId> <versionId>',
    operation: 'version.update',
    explain: { versionId: "The version's id, or its number" },
    examples: ['regen version update my-team light-tools 1.2.0 --deprecated --changelog "Use 1.3.0"'],
  },
  { usage: 'version get <nodeId> <version>', operation: 'version.get' },
  {
    usage: 'version list <nodeId>',
    operation: 'version.list',
    shape: { columns: ['version', 'status', 'deprecated', 'createdAt', 'status_reason'] },
  },
  {
    usage: 'version delete <publisherId> <nodeId> <versionId>',
    operation: 'version.delete',
    explain: { versionId: "The version's id, or its number" },
    confirm: 'Delete the version <versionId> of <nodeId>? Its number is not given out again.',
  },
  {
    usage: 'version history <publisherId> <nodeId> <versionId>',
    operation: 'version.history',
    explain: { versionId: "The version's id, or its number" },
    shape: { columns: ['at', 'status', 'by', 'reason'] },
  },
  {
    usage: 'version download <nodeId> [version]',
    module: 'download',
    summary: "Save a version's archive; its path is the one line on stdout",
    explain: { version: "The version's number; the latest one where absent" },
    flags: [
      {
        name: 'output',
        short: 'o',
        value: 'path',
        description: 'File or folder/ to save it in (default <node>-<version>.zip)',
      },
      { name: 'force', description: 'Write over an existing file' },
    ],
    examples: ['regen version download light-tools', 'regen version download light-tools 1.2.0 -o packs/'],
  },
  {
    usage: 'version bulk [pairs...]',
    module: 'bulk',
    operation: 'version.bulk',
    explain: { pairs: 'node@version; without any, one a line is read from standard input' },
    shape: {
      items: 'node_versions',
      columns: ['identifier.node_id', 'identifier.version', 'status', 'node_version.status', 'error_message'],
    },
    examples: [
      'regen version bulk hello-nodes@1.0.0 light-tools@1.2.0',
      'regen version bulk --json < pairs.txt',
    ],
  },
];
