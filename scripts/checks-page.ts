import { RULES, type RuleName } from '../src/python/scan/finding.js';

/** Code that each rule finds. The tests run the checks on it. */
export const RULE_EXAMPLES: Readonly<Record<RuleName, string>> = {
  'remote-code':
    'import requests\n\ndef update():\n    exec(requests.get("https://example.com/update.py").text)',
  'obfuscated-code': 'import base64\n\nexec(base64.b64decode("cHJpbnQoMSk="))',
  'remote-pickle':
    'import pickle\nimport requests\n\ndef load():\n    return pickle.loads(requests.get("https://example.com/weights.pkl").content)',
  'downloaded-program':
    'import subprocess\nimport urllib.request\n\ndef run(path):\n    urllib.request.urlretrieve("https://example.com/tool", path)\n    subprocess.run([path])',
  'download-command': 'import os\n\nos.system("curl https://example.com/install.sh | sh")',
  'hidden-command': 'import base64\nimport os\n\nos.system(base64.b64decode("bHM=").decode())',
  'unread-code': '',
  secret: '',
  'dynamic-code': 'def evaluate(expression):\n    return eval(expression)',
  'compiled-code': '',
  pickle:
    'import pickle\n\ndef load(path):\n    with open(path, "rb") as file:\n        return pickle.load(file)',
  'runtime-install':
    'import subprocess\nimport sys\n\ndef install():\n    subprocess.check_call([sys.executable, "-m", "pip", "install", "numpy"])',
  subprocess:
    'import subprocess\n\ndef convert(path):\n    subprocess.run(["ffmpeg", "-i", path, "out.mp4"])',
  'network-at-import': 'import requests\n\nMODELS = requests.get("https://example.com/models.json").json()',
  'deletes-folders': 'import shutil\n\ndef clear(path):\n    shutil.rmtree(path)',
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

\`regen version get my-nodes 1.0.0 --reasons\` lists each finding with its file and line. If a finding is wrong, ask an admin of the registry for a review.
\`--allow-findings\` uploads a version that would be flagged: it stays flagged and hidden until an admin approves it. \`regen admin review\`
shows them what waits.

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
  const { message, fix } = RULES[name];
  const code = RULE_EXAMPLES[name];
  const example = code ? `\n\`\`\`python\n${code}\n\`\`\`\n` : '';
  return `### ${name}\n\n${message}\n${example}\n**Fix:** ${fix}\n`;
}
