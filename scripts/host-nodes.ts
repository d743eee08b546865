import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseJson } from '../src/contract/json.js';
import { parseObjectInfo } from '../src/flows/workflow/host-definitions.js';

/**
 * Writes the table of the nodes that ComfyUI has without any pack, from what running hosts answer to /object_info, without
 * --disable-api-nodes, and from the names of the pages of its documentation for later releases:
 * `tsx scripts/host-nodes.ts 0.3.64=old.json 0.8.0=new.json --documented names.txt --date 2026-08-22`.
 */
const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { documented: { type: 'string' }, date: { type: 'string' } },
});

const answered = new Set<string>();
const releases: string[] = [];
for (const given of positionals) {
  const [release = '', file = ''] = given.split('=');
  const definitions = parseObjectInfo(parseJson(readFileSync(file, 'utf8')));
  if (!definitions) throw new Error(`${file} has no node definitions of a host.`);
  releases.push(release);
  for (const { host_node_name, module } of definitions)
    if (!module.startsWith('custom_nodes.')) answered.add(host_node_name);
}

// Pages of nodes of the editor and of tests, of classes that no release registers, and those that are not named as the node is.
const NO_NODE =
  /^(?:Note|MarkdownNote|Reroute|PrimitiveNode|TerminalLog|Deprecated.*|CombineHooks.*|.*SetDefaultAndCombine|CLIPAdd|CLIPSubtract|GeminiImage|SetModelHooksOnCond)$|TestNode$/;
const foldName = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
const folded = new Set([...answered].map(foldName));
const pages = values.documented ? readFileSync(values.documented, 'utf8').split(/\r?\n/).filter(Boolean) : [];
const documented = pages.filter((name) => !NO_NODE.test(name) && !folded.has(foldName(name)));

const last = releases.at(-1);
writeFileSync(
  'src/flows/workflow/host-nodes.json',
  `${JSON.stringify(
    {
      about: `Names of the nodes that ComfyUI has without any pack. answered: what the releases ${releases.join(' and ')} answer to /object_info. documented: what only the documentation of ${values.date} has. Written by scripts/host-nodes.ts.`,
      host: `ComfyUI ${last} and the documentation of ${values.date}`,
      answered: toLines([...answered]),
      documented: toLines(documented),
    },
    null,
    2,
  )}\n`,
);

/** In lists of one short line, because a program with one long line would fill a terminal above the trace of an error. */
function toLines(names: readonly string[]): string[][] {
  const lines: string[] = [];
  for (const name of [...new Set(names)].sort()) {
    if (name.includes('|')) throw new Error(`${name} has the separator in it.`);
    const line = lines.at(-1);
    if (line !== undefined && line.length + name.length < 95) lines[lines.length - 1] = `${line}|${name}`;
    else lines.push(name);
  }
  return lines.map((line) => [line]);
}
