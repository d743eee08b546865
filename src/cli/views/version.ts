import { flag } from '../command/flags.js';
import type { View } from './view.js';

const publisher = flag('--publisher <publisherId>', "Publisher, instead of the manifest's PublisherId");
const reasons = flag(
  '--reasons',
  'Show why versions were flagged or banned, one finding per line, with its file and line if the registry reports them',
);
const allowSecrets = flag('--allow-secrets', 'Include files that look like secrets');

const explain = { dir: 'Folder with the pyproject.toml (default: the current folder)' };
const versionId = { explain: { versionId: 'Version id, or version number' } };

export const versionViews: readonly View[] = [
  {
    usage: 'version publish [dir...]',
    module: 'publish',
    summary: "Publish a node pack as a new version, and wait for the registry's verdict",
    explain: {
      dir: 'Folder with the pyproject.toml (default: the current folder). With several folders, a failed one does not stop the others',
    },
    changes: true,
    flags: [
      publisher,
      flag('--changelog <text>', 'Summary of the changes in this version'),
      flag('--changelog-file <path>', 'File with the changelog, or - for standard input'),
      allowSecrets,
      flag('--allow-findings', 'Publish even if a finding would flag the version'),
      flag('--skip-existing', 'Succeed if this exact version is already published'),
      flag('--no-wait', 'Exit once the archive is uploaded'),
      flag('--wait', 'Wait for the verdict (the default)', { hidden: true }),
      flag('--concurrency <number>', 'Folders to publish in parallel (1 to 16; default 3)'),
      flag(
        '--timeout <duration>',
        "Maximum time to wait for the registry's verdict, such as 90s or 30m (default 30m)",
      ),
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
    summary: 'Write the archive that `version publish` would upload, and send nothing',
    explain,
    flags: [
      flag('--list', 'List each file with its size in bytes, and write nothing'),
      flag('-o, --output <path>', 'File or folder/ to write to (default <node>-<version>.zip)'),
      flag('--force', 'Overwrite an existing file'),
      allowSecrets,
    ],
    examples: ['regen version pack --list', 'regen version pack packs/light -o light.zip'],
  },
  {
    usage: 'version check [dir]',
    module: 'check',
    local: true,
    summary:
      'Preview what the registry will list and flag, without uploading; exits 6 if it would be flagged',
    explain,
    flags: [
      publisher,
      allowSecrets,
      flag(
        '--for <choice>',
        'Also find what the scanner of another registry is known to flag (one of comfy)',
        { choices: ['comfy'] },
      ),
    ],
    shape: { columns: ['kind', 'what', 'where', 'detail'] },
    examples: ['regen version check', 'regen version check packs/light --json'],
  },
  {
    usage: 'version bump [to] [dir]',
    module: 'version-bump',
    local: true,
    summary: 'Raise the version in the pyproject.toml of a node pack',
    explain: {
      to: 'major, minor, patch, prerelease, or the new version (default: patch)',
      ...explain,
    },
    examples: ['regen version bump minor', 'regen version bump 2.0.0 packs/light'],
  },
  {
    usage: 'version deprecate <nodeId> <range>',
    module: 'version-deprecate',
    changes: true,
    summary: 'Mark all versions of a node in a range as deprecated',
    explain: { range: "Range of versions as npm writes it, such as '<1.2.0' or '1.x'" },
    flags: [flag('--undo', 'Remove the mark'), flag('-y, --yes', 'Do not ask for confirmation')],
    shape: { columns: ['version', 'deprecated', 'status'] },
    examples: ["regen version deprecate light-tools '<1.2.0'"],
  },
  {
    usage: 'version diff <nodeId> <from> <to>',
    explain: { from: 'The earlier version number', to: 'The later version number' },
    module: 'diff',
    summary: 'Compare the node definitions of two versions, and show what breaks workflows',
    shape: { columns: ['host_node_name', 'change', 'detail', 'breaks'] },
    examples: ['regen version diff light-tools 1.1.0 1.2.0'],
  },
  {
    usage: 'version update <publisherId> <nodeId> <versionId>',
    operation: 'version.update',
    ...versionId,
    examples: ['regen version update my-team light-tools 1.2.0 --deprecated --changelog "Use 1.3.0"'],
  },
  {
    usage: 'version get <nodeId> <version>',
    operation: 'version.get',
    module: 'version-reasons',
    flags: [reasons],
  },
  {
    usage: 'version list <nodeId>',
    operation: 'version.list',
    module: 'version-reasons',
    flags: [reasons],
    shape: {
      columns: ['version', 'status', 'deprecated', 'createdAt', 'status_reason'],
      less: ['deprecated'],
    },
  },
  {
    usage: 'version delete <publisherId> <nodeId> <versionId>',
    operation: 'version.delete',
    ...versionId,
  },
  {
    usage: 'version history <publisherId> <nodeId> <versionId>',
    operation: 'version.history',
    ...versionId,
    shape: { columns: ['at', 'status', 'by', 'reason'] },
  },
  {
    usage: 'version download <nodeId> [version]',
    module: 'download',
    summary: 'Save the archive of a version, and print its path',
    explain: { version: 'Version number (default: the latest version)' },
    flags: [
      flag('-o, --output <path>', 'File or folder/ to save to (default <node>-<version>.zip)'),
      flag('--force', 'Overwrite an existing file'),
    ],
    examples: ['regen version download light-tools', 'regen version download light-tools 1.2.0 -o packs/'],
  },
  {
    usage: 'version bulk [pairs...]',
    module: 'bulk',
    operation: 'version.bulk',
    explain: { pairs: 'node@version (default: read from standard input, one per line)' },
    shape: {
      items: 'node_versions',
      columns: ['identifier.node_id', 'identifier.version', 'status', 'node_version.status', 'error_message'],
      less: ['status'],
    },
    examples: [
      'regen version bulk hello-nodes@1.0.0 light-tools@1.2.0',
      'regen version bulk --json < pairs.txt',
    ],
  },
];
