import { RULES, type RuleName } from '../src/python/scan/finding.js';

/** Code that a rule finds, and what to do about it. */
interface RuleExample {
  readonly code: string;
  readonly fix: string;
}

/** An example for each rule. The tests run the checks on it. */
export const RULE_EXAMPLES: Readonly<Record<RuleName, RuleExample>> = {
  'remote-code': {
    code: 'import requests\n\ndef update():\n    exec(requests.get("https://example.com/update.py").text)',
    fix: 'Ship the code with the pack, and publish a new version when it changes.',
  },
  'obfuscated-code': {
    code: 'import base64\n\nexec(base64.b64decode("cHJpbnQoMSk="))',
    fix: 'Publish the source as it is. Packed or encrypted code cannot be checked by anybody.',
  },
  'remote-pickle': {
    code: 'import pickle\nimport requests\n\ndef load():\n    return pickle.loads(requests.get("https://example.com/weights.pkl").content)',
    fix: 'Download safetensors or JSON instead: they hold data and no code.',
  },
  'downloaded-program': {
    code: 'import subprocess\nimport urllib.request\n\ndef run(path):\n    urllib.request.urlretrieve("https://example.com/tool", path)\n    subprocess.run([path])',
    fix: 'Name a package in `dependencies` that brings the program, or ask users to install it.',
  },
  'download-command': {
    code: 'import os\n\nos.system("curl https://example.com/install.sh | sh")',
    fix: 'Name what it installs in `dependencies`, or describe the step in the README.',
  },
  'hidden-command': {
    code: 'import base64\nimport os\n\nos.system(base64.b64decode("bHM=").decode())',
    fix: 'Write the command in plain text.',
  },
  'unread-code': {
    code: '',
    fix: 'Split files of more than a few megabytes of code, move generated data out of Python, and save the files as UTF-8.',
  },
  secret: {
    code: '',
    fix: 'Revoke the key, remove it from the file, and read it from a variable or a file of the user instead.',
  },
  'dynamic-code': {
    code: 'def evaluate(expression):\n    return eval(expression)',
    fix: 'Parse the text instead, for example with `ast.literal_eval`. An honest use is only noted.',
  },
  'compiled-code': {
    code: '',
    fix: 'Publish the source beside it, so that people can see what it was built from.',
  },
  pickle: {
    code: 'import pickle\n\ndef load(path):\n    with open(path, "rb") as file:\n        return pickle.load(file)',
    fix: 'Use safetensors for weights and JSON for settings.',
  },
  'runtime-install': {
    code: 'import subprocess\nimport sys\n\ndef install():\n    subprocess.check_call([sys.executable, "-m", "pip", "install", "numpy"])',
    fix: 'List the package in `dependencies`; installers read it from there.',
  },
  subprocess: {
    code: 'import subprocess\n\ndef convert(path):\n    subprocess.run(["ffmpeg", "-i", path, "out.mp4"])',
    fix: 'Nothing, if the program and its arguments are what users expect. Say in the README which program is needed.',
  },
  'network-at-import': {
    code: 'import requests\n\nMODELS = requests.get("https://example.com/models.json").json()',
    fix: 'Move the request into the function of the node, so that importing the pack works offline.',
  },
  'deletes-folders': {
    code: 'import shutil\n\ndef clear(path):\n    shutil.rmtree(path)',
    fix: 'Delete only files that the pack created.',
  },
};

/** Formats docs/how-packs-are-checked.md. */
export function formatChecksPage(): string {
  const names = Object.keys(RULES) as RuleName[];
  const select = (severity: string) => names.filter((name) => RULES[name].severity === severity);
  return `# How packs are checked

<!-- Generated from the rules by \`npm run generate\`. -->

Every published version is checked before others can install it. \`regen version check\` runs the same checks on your machine and
uploads nothing; \`regen version publish\` runs them first, so a version that would be flagged is never uploaded by accident. Both
refuse the same packs with the same exit codes, and \`regen version publish --dry-run\` does, too.

The checks read the Python of a pack. They never run it.

## The verdict

| status | meaning |
| --- | --- |
| pending | uploaded, and not checked yet; most packs take seconds |
| active | anyone can install it |
| flagged | a rule of severity high found something; only the publisher and admins see it, with the reason |
| banned | an admin refused it |
| deleted | the publisher deleted it; its number cannot be used again |

\`regen version get my-nodes 1.0.0 --reasons\` lists each finding with its file and line. If a finding is wrong, publish with
\`--allow-findings\` and ask an admin of the registry for a review; \`regen admin review\` shows them what waits.

## Checked before the code

| what | limit | if it fails |
| --- | --- | --- |
| the manifest | [every key](manifest.md) | refused with the key and what it must be |
| files that look like secrets | none, unless \`--allow-secrets\` | refused with file, line and kind |
| the archive | 2 GB packed, 8 GB unpacked, 50,000 files, no paths outside the pack | refused |
| Python that runs when the pack is imported | no error of syntax, unless \`--allow-findings\` | refused with file and line |
| node definitions | at least one, unless \`--allow-empty\` | refused |
| the version number | [may break workflows](publishing.md#version-numbers) if they break, unless \`--allow-breaking\` | refused with each change |

A pack is only refused for its Python if no Python from 3.8 on accepts a file that \`__init__.py\` certainly imports. Other files with
errors are reported with their lines. It is refused as a pack without nodes if it sets neither \`NODE_CLASS_MAPPINGS\` nor
\`comfy_entrypoint\`, or if nothing is in them. A pack that may set them in a way that cannot be followed without running it, such as
with \`exec\` or \`globals()\`, is published, with a warning. One with only a web extension needs \`--allow-empty\`.

The checks also list the node definitions: names, inputs and outputs of each class in \`NODE_CLASS_MAPPINGS\` or \`comfy_entrypoint\`.
What is computed at run time is shown as *unknown*, and does not flag a version.

## Rules that flag a version

${select('high').map(formatRule).join('\n')}
## Rules that are only noted

${select('low').map(formatRule).join('\n')}`
    .trimEnd()
    .concat('\n');
}

function formatRule(name: RuleName): string {
  const { code, fix } = RULE_EXAMPLES[name];
  const example = code ? `\n\`\`\`python\n${code}\n\`\`\`\n` : '';
  return `### ${name}\n\n${RULES[name].message}\n${example}\n**Fix:** ${fix}\n`;
}
