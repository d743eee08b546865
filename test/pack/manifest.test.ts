import { describe, expect, it } from 'vitest';
import { readManifest } from '../../src/pack/manifest.js';
import { createEmptyFolder, createFolder } from './folders.js';

type Files = Readonly<Record<string, string | Buffer>>;

const least = '[project]\nname = "hello-nodes"\nversion = "1.0.0"\n';
const publisher = '[tool.hostui]\nPublisherId = "hello"\n';

const readFrom = async (pyproject: string | Buffer, files: Files = {}, options?: { publisher?: string }) =>
  readManifest(await createFolder({ 'pyproject.toml': pyproject, ...files }), options);

async function requireManifest(pyproject: string, files?: Files, options?: { publisher?: string }) {
  const result = await readFrom(pyproject, files, options);
  if (!result.ok) throw new Error(JSON.stringify(result.problems));
  return result.manifest;
}

async function listProblems(pyproject: string | Buffer, files?: Files): Promise<Record<string, string>> {
  const result = await readFrom(pyproject, files);
  return result.ok ? {} : Object.fromEntries(result.problems.map(({ where, message }) => [where, message]));
}

describe('a manifest', () => {
  it('is read into what publishing sends', async () => {
    const text = `
      [project]
      name = "Hello-Nodes"
      description = "Greets people."
      version = "1.2.3"
      license = { file = "LICENSE.txt" }
      keywords = ["text", "greeting"]
      authors = [{ name = "Ada", email = "ada@example.com" }, { name = "Bob" }]
      dependencies = ["numpy>=1.26", "hostui-frontend-package>=1.25.0, <2", "requests[socks]; python_version < '3.12'"]
      classifiers = [
        "Programming Language :: Python :: 3",
        "Operating System :: POSIX :: Linux",
        "Operating System :: Microsoft :: Windows",
        "Environment :: Console",
        "Environment :: GPU :: NVIDIA CUDA",
        "Environment :: NPU :: Huawei Ascend",
      ]
      [project.urls]
      Homepage = "https://hello.example"
      Repository = "https://git.example/hello/nodes"
      [tool.hostui]
      PublisherId = "hello"
      DisplayName = "Hello Nodes"
      Icon = "https://hello.example/icon.png"
      Banner = "https://hello.example/banner.png"
      Category = "text"
      includes = ["dist"]
      requires-hostui = ">=1.0.0"
    `;
    const supported = {
      supported_os: ['POSIX :: Linux', 'Microsoft :: Windows'],
      supported_accelerators: ['GPU :: NVIDIA CUDA', 'NPU :: Huawei Ascend'],
      supported_hostui_version: '>=1.0.0',
      supported_hostui_frontend_version: '>=1.25.0,<2',
    };
    expect(await requireManifest(text, { 'LICENSE.txt': 'MIT' })).toEqual({
      publisher: 'hello',
      node: {
        id: 'Hello-Nodes',
        name: 'Hello Nodes',
        description: 'Greets people.',
        author: 'Ada',
        license: 'LICENSE.txt',
        category: 'text',
        tags: ['text', 'greeting'],
        repository: 'https://git.example/hello/nodes',
        icon: 'https://hello.example/icon.png',
        banner_url: 'https://hello.example/banner.png',
        ...supported,
      },
      version: {
        version: '1.2.3',
        dependencies: ['numpy>=1.26', "requests[socks]; python_version < '3.12'"],
        ...supported,
      },
      includes: ['dist'],
      table: 'hostui',
      warnings: [],
    });
  });

  it('needs no more than name, version and publisher', async () => {
    expect(await requireManifest(least + publisher)).toEqual({
      publisher: 'hello',
      node: { id: 'hello-nodes', name: 'hello-nodes' },
      version: { version: '1.0.0', dependencies: [] },
      includes: [],
      table: 'hostui',
      warnings: [],
    });
  });

  it('may leave the publisher to the caller, who has the last word', async () => {
    expect(await requireManifest(least, {}, { publisher: 'other' })).toMatchObject({
      publisher: 'other',
      table: undefined,
    });
    expect(await requireManifest(least + publisher, {}, { publisher: 'other' })).toMatchObject({
      publisher: 'other',
    });
  });

  it('takes empty texts, which templates leave, as absent', async () => {
    const empty = '[tool.hostui]\nPublisherId = "hello"\nDisplayName = ""\nIcon = " "\nBanner = ""\n';
    const { node } = await requireManifest(`[project]\ndescription = ""\n${least.slice(10)}${empty}`);
    expect(node).toEqual({ id: 'hello-nodes', name: 'hello-nodes' });
  });

  it('is read from [tool.comfy] where [tool.hostui] is absent', async () => {
    const comfy = '[tool.comfy]\nPublisherId = "comfy"\nDisplayName = "Old"\n"requires-comfyui" = ">=0.3"\n';
    expect(await requireManifest(least + comfy)).toMatchObject({
      publisher: 'comfy',
      node: { name: 'Old', supported_hostui_version: '>=0.3' },
      table: 'comfy',
    });
    expect(await requireManifest(least + publisher + comfy)).toMatchObject({
      publisher: 'hello',
      table: 'hostui',
    });
  });

  it('may begin with a byte order mark and have Windows line ends', async () => {
    const text = `\uFEFF${(least + publisher).replaceAll('\n', '\r\n')}`;
    expect(await requireManifest(text)).toMatchObject({ publisher: 'hello', version: { version: '1.0.0' } });
  });

  it.each([
    ['license = "MIT"', 'MIT'],
    ['license = { text = "MIT License" }', 'MIT License'],
    ['license = { file = "COPYING" }', 'COPYING'],
    ['license-files = ["LICENSE.md"]', 'LICENSE.md'],
    ['license-files = ["LICEN[CS]E*"]', undefined],
    ['license = { file = "" }', undefined],
    ['license-files = { paths = ["LICENSE"] }', undefined],
  ])('gives the licence of %s', async (line, license) => {
    expect((await requireManifest(`${least}${line}\n${publisher}`, { COPYING: '' })).node.license).toBe(
      license,
    );
  });

  it('has a warning where the licence file is not there', async () => {
    const { warnings } = await requireManifest(`${least}license = { file = "LICENSE" }\n${publisher}`);
    expect(warnings).toEqual([
      { where: '[project] license', message: 'refers to LICENSE, which does not exist' },
    ]);
  });

  it.each([
    'Repository',
    'repository',
    'REPOSITORY',
    'Source Code',
    'source-code',
    'Source',
    'GitHub',
    'Repo',
  ])('finds the repository under the label %s', async (label) => {
    const urls = `[project.urls]\nDocumentation = "https://docs.example"\n"${label}" = "https://git.example/a"\n`;
    expect((await requireManifest(least + urls + publisher)).node.repository).toBe('https://git.example/a');
  });

  it('takes a homepage for the repository only where it is one', async () => {
    const urls = (url: string) => `[project.urls]\nHomepage = "${url}"\n`;
    const of = async (url: string) => (await requireManifest(least + urls(url) + publisher)).node.repository;
    expect(await of('https://github.com/hello/nodes')).toBe('https://github.com/hello/nodes');
    expect(await of('https://hello.example')).toBeUndefined();
  });
});

const formatDynamic = (rest: string) =>
  `[project]\nname = "hello"\ndynamic = ["version"]\n${publisher}${rest}`;

describe('a dynamic version', () => {
  const about = { 'hello/about.py': '"""About."""\n__version__: str = "2.1.0"  # keep\nother = "9.9.9"\n' };

  it.each<[string, string, Files]>([
    [
      'setuptools, an attribute of a module',
      '[tool.setuptools.dynamic]\nversion = { attr = "hello.about.__version__" }',
      about,
    ],
    [
      'setuptools, an attribute of a package',
      '[tool.setuptools.dynamic]\nversion = { attr = "hello.VERSION" }',
      { 'hello/__init__.py': "VERSION = '2.1.0'\n" },
    ],
    [
      'setuptools, below src',
      '[tool.setuptools.dynamic]\nversion = { attr = "hello.__version__" }',
      { 'src/hello/__init__.py': '__version__="2.1.0"\n' },
    ],
    [
      'setuptools, in a folder of another name',
      '[tool.setuptools]\npackage-dir = { "" = "lib" }\n[tool.setuptools.dynamic]\nversion = { attr = "hello.__version__" }',
      { 'lib/hello.py': '__version__ = "2.1.0"\n' },
    ],
    [
      'setuptools, an attribute of the pack itself',
      '[tool.setuptools.dynamic]\nversion = { attr = "__version__" }',
      { '__init__.py': '__version__ = "2.1.0"\r\n' },
    ],
    [
      'setuptools, a file',
      '[tool.setuptools.dynamic]\nversion = { file = "VERSION" }',
      { VERSION: '\uFEFF2.1.0\r\n' },
    ],
    [
      'setuptools, a list of files',
      '[tool.setuptools.dynamic]\nversion = { file = ["VERSION.txt"] }',
      { 'VERSION.txt': '2.1.0\n' },
    ],
    ['hatch', '[tool.hatch.version]\npath = "hello/about.py"', about],
    [
      'hatch with a pattern',
      '[tool.hatch.version]\npath = "pack.json"\npattern = \'"release": "(?P<version>[^"]+)"\'',
      { 'pack.json': '{ "release": "2.1.0" }' },
    ],
    ['pdm', '[tool.pdm.version]\nsource = "file"\npath = "hello/about.py"', about],
    ['flit', '[tool.flit.module]\nname = "hello"', { 'hello.py': '__version__ = "2.1.0"\n' }],
    ['poetry', '[tool.poetry]\nversion = "2.1.0"', {}],
    ['the table of the host', '[tool.hostui.version]\npath = "hello/about.py"', about],
  ])('is read as %s does, without running code', async (_, rest, files) => {
    expect((await requireManifest(formatDynamic(rest), files)).version.version).toBe('2.1.0');
  });

  it('of other packs stands in [tool.comfy.version]', async () => {
    const text =
      '[project]\nname = "hello"\ndynamic = ["version"]\n[tool.comfy]\nPublisherId = "hello"\n[tool.comfy.version]\npath = "v.py"\n';
    expect((await requireManifest(text, { 'v.py': 'VERSION = "2.1.0"' })).version.version).toBe('2.1.0');
  });

  it.each<[string, string, Files, string]>([
    [
      'computed',
      '[tool.hatch.version]\npath = "v.py"',
      { 'v.py': '__version__ = compute()\n' },
      'no plain assignment in v.py',
    ],
    ['not there', '[tool.hatch.version]\npath = "v.py"', {}, 'v.py, which does not exist'],
    [
      'outside the pack',
      '[tool.hatch.version]\npath = "../../../../../../etc/hostname"',
      {},
      'outside the pack',
    ],
    ['at an absolute path', '[tool.hatch.version]\npath = "/etc/hostname"', {}, 'relative to the pack'],
    [
      'in an empty file',
      '[tool.setuptools.dynamic]\nversion = { file = "VERSION" }',
      { VERSION: '\n' },
      'empty',
    ],
    [
      'found by a broken pattern',
      '[tool.hatch.version]\npath = "v.py"\npattern = "("',
      { 'v.py': '' },
      'the pattern (',
    ],
    ['in no attribute', '[tool.setuptools.dynamic]\nversion = { attr = "a.b.c" }', {}, 'a.b.c'],
    [
      'in what is no attribute',
      '[tool.setuptools.dynamic]\nversion = { attr = "../x.y" }',
      {},
      'not a valid attribute name',
    ],
    ['taken from git', '[tool.setuptools_scm]', {}, 'computed when the pack is built'],
    [
      'taken from git by hatch',
      '[tool.hatch.version]\nsource = "vcs"',
      {},
      'computed when the pack is built',
    ],
    ['nowhere', '', {}, 'its source is not declared'],
  ])('is reported with a message when it is %s', async (_, rest, files, words) => {
    expect(await listProblems(formatDynamic(rest), files)).toEqual({
      '[project] version': expect.stringContaining(words),
    });
  });

  it('must be valid SemVer like a static one', async () => {
    expect(await listProblems(formatDynamic('[tool.poetry]\nversion = "1.0rc1"'))).toEqual({
      '[project] version': expect.stringContaining('write 1.0.0-rc.1'),
    });
  });
});

describe('dynamic dependencies', () => {
  const text = (rest = '') => `${least}dynamic = ["dependencies"]\n${publisher}${rest}`;

  it('are read from requirements.txt, without comments and what only pip understands', async () => {
    const requirements = [
      '\uFEFF# what we need',
      'numpy>=1.26  # arrays',
      '',
      'git+https://git.example/a.git#egg=a',
      'torch==2.1.0 \\',
      '    --hash=sha256:abc',
      '--extra-index-url https://index.example/simple',
      '-r more/extra.txt',
      'numpy>=1.26',
    ].join('\r\n');
    const files = {
      'requirements.txt': requirements,
      'more/extra.txt': 'einops\n-r deep.txt',
      'more/deep.txt': 'tqdm\n-r extra.txt',
    };
    const { version, warnings } = await requireManifest(text(), files);
    expect(version.dependencies).toEqual([
      'numpy>=1.26',
      'git+https://git.example/a.git#egg=a',
      'torch==2.1.0',
      'einops',
      'tqdm',
    ]);
    expect(warnings).toEqual([
      { where: '[project] dependencies', message: expect.stringContaining('--extra-index-url') },
    ]);
  });

  it('are read from a line of much white space', async () => {
    const files = { 'requirements.txt': `numpy --hash=sha256:abc\ntqdm${' '.repeat(500_000)}# x` };
    const { version } = await requireManifest(text(), files);
    expect(version.dependencies).toEqual(['numpy', 'tqdm']);
  });

  it('are read from the files that setuptools is configured with', async () => {
    const rest = '[tool.setuptools.dynamic]\ndependencies = { file = ["a.txt", "b.txt"] }';
    const { version } = await requireManifest(text(rest), {
      'a.txt': 'numpy',
      'b.txt': 'comfyui-frontend-package==1.2.3\ntqdm',
    });
    expect(version).toMatchObject({
      dependencies: ['numpy', 'tqdm'],
      supported_hostui_frontend_version: '==1.2.3',
    });
  });

  it('are a problem where the file is missing or outside the pack', async () => {
    expect(await listProblems(text())).toEqual({
      '[project] dependencies': expect.stringContaining('requirements.txt'),
    });
    expect(await listProblems(text(), { 'requirements.txt': '-r ../../../../../../etc/hosts' })).toEqual({
      '[project] dependencies': expect.stringContaining('outside the pack'),
    });
  });

  it('are reported one by one where several files are missing', async () => {
    const rest = '[tool.setuptools.dynamic]\ndependencies = { file = ["a.txt", "b.txt"] }';
    expect(await readFrom(text(rest))).toMatchObject({
      problems: [
        { message: expect.stringContaining('a.txt') },
        { message: expect.stringContaining('b.txt') },
      ],
    });
  });

  it('are not read unless the manifest lists them as dynamic', async () => {
    const { version } = await requireManifest(least + publisher, { 'requirements.txt': 'numpy' });
    expect(version.dependencies).toEqual([]);
  });
});

describe('the problems of a manifest', () => {
  it('are reported all at once, each under its key', async () => {
    const text = `
      [project]
      name = "-hello-"
      version = "v1.2"
      description = "${'long '.repeat(300)}"
      keywords = "text, greeting"
      [tool.hostui]
      PublisherId = "Hello World"
      includes = ["dist", 5]
    `;
    expect(await listProblems(text)).toEqual({
      '[project] name': expect.stringContaining('letter or digit at both ends'),
      '[project] version': "'v1.2' is not a semantic version; write 1.2.0",
      '[project] description': 'must have at most 1000 characters',
      '[project] keywords': 'must be a list',
      '[tool.hostui] PublisherId': expect.stringContaining('lowercase'),
      '[tool.hostui] includes[1]': 'must be a string',
    });
  });

  it('include a wrong shape once, and not also as a missing field', async () => {
    expect(await listProblems('project = 5\ntool = []\n')).toEqual({
      '[project]': 'must be an object',
      '[tool]': 'must be an object',
      '[project] name': 'is required',
      '[project] version': expect.stringContaining('is required'),
      '[tool.comfy] PublisherId': 'is required',
    });
    expect(
      await listProblems('[project]\nname = 5\nversion = 1.0\n[tool.comfy]\nPublisherId = true\n'),
    ).toEqual({
      '[project] name': 'must be a string',
      '[project] version': 'must be a string, such as version = "1.0.0"',
      '[tool.comfy] PublisherId': 'must be a string',
    });
  });

  it('include a table of texts that is a date or has other values, except under __proto__', async () => {
    const addUrls = (urls: string) => listProblems(`${least}${urls}\n${publisher}`);
    expect(await addUrls('urls = 2026-01-31')).toEqual({ '[project] urls': 'must be an object' });
    expect(await addUrls('urls = { constructor = 1, __proto__ = 1 }')).toEqual({
      '[project] urls.constructor': 'must be a string',
    });
    expect(await addUrls('urls = { __proto__ = { name = "a" } }')).toEqual({});
  });

  it('include a list or table of more than 1000 entries', async () => {
    const many = Array.from({ length: 1001 }, (_, index) => `k${index} = "x"`);
    const text = `${least}classifiers = [${'"x",'.repeat(1001)}]\nurls = { ${many.join(', ')} }\n${publisher}`;
    expect(await listProblems(text)).toEqual({
      '[project] classifiers': 'must have at most 1000 items',
      '[project] urls': 'must have at most 1000 entries',
    });
    expect(await listProblems(`${least}${publisher}includes = [${'1,'.repeat(1001)}]`)).toEqual({
      '[tool.hostui] includes': 'must have at most 1000 items',
    });
  });

  it('include what is missing', async () => {
    expect(await readFrom('')).toMatchObject({
      problems: [
        { where: 'pyproject.toml', message: 'has neither [tool.comfy] nor [tool.hostui]' },
        { where: 'pyproject.toml', message: 'has no [project] table' },
      ],
    });
    expect(await listProblems(`[project]\n${publisher}`)).toEqual({
      '[project] name': 'is required',
      '[project] version': 'is required, such as version = "1.0.0"',
    });
    expect(await listProblems(`${least}[tool.comfy]\nPublisherId = ""\n`)).toEqual({
      '[tool.comfy] PublisherId': 'is required',
    });
  });

  it.each([
    [
      least + publisher.replace('Id', 'ID'),
      { '[tool.hostui] PublisherId': 'is required; found PublisherID' },
    ],
    [
      least.replace('version', 'verison') + publisher,
      { '[project] version': 'is required, such as version = "1.0.0"; found verison' },
    ],
    [
      least + publisher.replace('hostui', 'comfi'),
      { 'pyproject.toml': 'has neither [tool.comfy] nor [tool.hostui] (found [tool.comfi])' },
    ],
    [
      least.replace('project', 'projct') + publisher,
      { 'pyproject.toml': 'has no [project] table (found [projct])' },
    ],
  ])('include what is there in place of what is missing: %s', async (text, problems) => {
    expect(await listProblems(text)).toEqual(problems);
  });

  it('include a version that is a number, with its SemVer form', async () => {
    expect(await listProblems(least.replace('"1.0.0"', '4') + publisher)).toEqual({
      '[project] version': 'must be a string, such as version = "4.0.0"',
    });
  });

  it('include a version with a letter in place of a digit', async () => {
    expect(await listProblems(least.replace('1.0.0', '1.0.O') + publisher)).toEqual({
      '[project] version': expect.stringContaining('such as 1.0.0'),
    });
  });

  it.each([
    ['1.0', '1.0.0'],
    ['1.0rc1', '1.0.0-rc.1'],
    ['2.0.0b3', '2.0.0-beta.3'],
    ['v3.1.4', '3.1.4'],
    ['01.2.3', '1.2.3'],
  ])('include a version in Python spelling, with its SemVer form: %s, %s', async (version, spelling) => {
    const text = least.replace('1.0.0', version) + publisher;
    expect(await listProblems(text)).toEqual({
      '[project] version': expect.stringContaining(`write ${spelling}`),
    });
  });

  it('include invalid TOML, with line and column', async () => {
    expect(await listProblems('[project]\nname = "hello\nversion = "1.0.0"\n')).toEqual({
      'pyproject.toml:2:14': expect.stringMatching(/^is not valid TOML: [^\n]+$/),
    });
  });

  it('include a file that is not text, too large or missing', async () => {
    expect(await listProblems(Buffer.from([0x5b, 0xff, 0xfe]))).toEqual({
      'pyproject.toml': 'is not UTF-8 text',
    });
    expect(await listProblems(`# ${'x'.repeat(1024 ** 2)}`)).toEqual({
      'pyproject.toml': 'is larger than 1 MiB',
    });
    expect(await readManifest(await createEmptyFolder())).toMatchObject({
      ok: false,
      problems: [{ where: 'pyproject.toml', message: expect.stringContaining('is missing') }],
    });
  });
});

describe('a manifest has a warning', () => {
  const listWarnings = async (lines: string, pack: string) => {
    const { warnings } = await requireManifest(
      `${least}${lines}\n${publisher.replace('hostui', 'comfy')}${pack}`,
    );
    return warnings.map(({ where, message }) => `${where} ${message}.`);
  };

  it.each([
    ['descripton = "x"', '', '[project] descripton is ignored; the nearest key is description.'],
    [
      'requires_python = ">=3.9"',
      '',
      '[project] requires_python is ignored; the nearest key is requires-python.',
    ],
    ['author = "me"', '', '[project] author is ignored; the nearest key is authors.'],
    ['', 'DisplayNmae = "x"', '[tool.comfy] DisplayNmae is ignored; the nearest key is DisplayName.'],
    ['', 'icon = "x"', '[tool.comfy] icon is ignored; the nearest key is Icon.'],
    [
      'dependencies = ["numpy>>1", "tqdm"]',
      '',
      '[project] dependencies has numpy>>1, which is not a requirement such as numpy>=1.26.',
    ],
    [
      '',
      'requires-comfyui = ">>0.3"',
      '[tool.comfy] requires-comfyui is >>0.3, which is not a range such as >=0.3.40.',
    ],
    [
      '',
      'Icon = "icon.png"',
      '[tool.comfy] Icon is icon.png, which is not a URL such as https://example.com/icon.png.',
    ],
    [
      'classifiers = ["Operating System :: Linuxx"]',
      '',
      '[project] classifiers has Operating System :: Linuxx, which nothing reads; the nearest one is Operating System :: POSIX :: Linux.',
    ],
  ])('about %s%s', async (lines, pack, warning) => {
    expect(await listWarnings(lines, pack)).toEqual([warning]);
  });

  it('about a table that is nearly one of a pack, if the caller names the publisher', async () => {
    const { warnings } = await requireManifest(`${least}[tool.comfi]\n`, {}, { publisher: 'other' });
    expect(warnings).toEqual([
      { where: '[tool.comfi]', message: 'is ignored; the nearest table is [tool.comfy]' },
    ]);
  });

  it.each([
    // Of published packs.
    [
      'readme = "README.md"\nrequires-python = ">=3.10"\noptional-dependencies = { dev = ["ruff"] }\nmaintainers = []',
      'Icon = ""\nBanner = ""\nweb = "web"\nModels = []\nincludes = []\nTags = ["x"]\nrequires-comfyui = ">=1.0.0,<2.0.0"',
    ],
    [
      'dependencies = ["numpy", "opencv-python-headless >= 4.9, <5", "trimesh[easy]", "torch==2.1.0+cu118", "a @ https://a.example/a.whl", "git+https://git.example/a.git#egg=a", "x (>=1.0)", "y~=1.4; python_version < \'3.12\'", "z==1.*"]',
      '[tool.comfyregistry]\nx = 1',
    ],
    [
      'classifiers = ["Operating System :: OS Independent", "Operating System :: Microsoft :: Windows :: Windows 11", "Operating System :: MacOS :: MacOS X", "Environment :: Console", "Operating System :: Linux"]',
      'requires-comfyui = "<>0.3.1"',
    ],
  ])('about nothing that packs and their tools use', async (lines, pack) => {
    expect(await listWarnings(lines, pack)).toEqual([]);
  });
});

describe('the example pack', () => {
  it('has a manifest without problems', async () => {
    expect(await readManifest('examples/hello-nodes')).toMatchObject({
      ok: true,
      manifest: { publisher: 'hello', node: { id: 'hello-nodes', name: 'Hello Nodes' }, warnings: [] },
    });
  });
});
