import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import sharp from 'sharp';
import yauzl from 'yauzl';
import { DEFAULT_LIMITS } from '../../src/contract/schema/limits.js';
import { findPathProblem } from '../../src/pack/path.js';
import { inspectArchive } from '../../src/pack/read-archive.js';
import { loadImage } from '../../src/service/generation/load-image.js';
import { loadVideo } from '../../src/service/generation/load-video.js';
import { ImageInspector } from '../../src/service/operation/image-inspector.js';
import { Refused } from '../../src/service/operation/refused.js';
import { createRawZip } from '../pack/raw-zip.js';
import { createZip } from '../support/create-zip.js';
import { listenOn } from '../support/listen.js';
import { mutateBytes, type Target } from './target.js';

const rawEntry = fc.record(
  {
    name: fc.oneof(
      fc.constantFrom(
        'a.py',
        'A.py',
        'a/',
        'a/b.py',
        '../a.py',
        '/a.py',
        'a\\b.py',
        'con',
        'a\0b',
        'é.py',
        ' ',
        '.',
      ),
      fc.string({ minLength: 1, maxLength: 300 }),
    ),
    content: fc.oneof(fc.string(), fc.constant('x'.repeat(100_000))),
    method: fc.constantFrom(0, 8, 9, 99),
    flags: fc.constantFrom(0, 0x800, 1, 8, 0x2000),
    mode: fc.constantFrom(0, 0o100644, 0o100755, 0o040755, 0o120777, 0o010644),
    crc: fc.nat(2 ** 32 - 1),
    size: fc.nat(2 ** 32 - 1),
    compressedSize: fc.nat(2 ** 20),
    offset: fc.nat(200),
    extra: fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  },
  { requiredKeys: ['name', 'content'] },
);

/** Archives: sound ones with some bytes changed, and headers that lie. An accepted one unpacks to what was said. */
export async function createArchives(): Promise<Target<Buffer>> {
  const sound = [
    await createZip({ '__init__.py': 'print("hello")\n', 'web/a.js': 'x', 'é.txt': Buffer.alloc(5000) }),
    await createZip({ 'a.py': '' }),
    createRawZip(
      [
        { name: 'a/', mode: 0o040755 },
        { name: 'a/b.py', content: 'x = 1\n' },
      ],
      { comment: Buffer.from('c') },
    ),
  ];
  const lies = fc.array(rawEntry, { maxLength: 5 }).map((entries) => createRawZip(entries));
  const folder = mkdtempSync(join(tmpdir(), 'regen-fuzz-'));
  const path = join(folder, 'node.zip');
  let [accepted, refused] = [0, 0];
  const run = async (bytes: Buffer) => {
    writeFileSync(path, bytes);
    const contents = new Map<string, number>();
    const reader = {
      wanted: () => true,
      read: (name: string, content: Buffer) => void contents.set(name, content.length),
    };
    const inspection = await inspectArchive(path, { ...DEFAULT_LIMITS, archiveUnpacked: 2 ** 20 }, reader);
    if (!inspection.ok) {
      refused += 1;
      if (!/\S/.test(inspection.reason) || /\n/.test(inspection.reason))
        throw new Error(`Said: ${inspection.reason}`);
      return;
    }
    accepted += 1;
    const { entries, unpacked } = inspection;
    const sizes = entries.map((entry) => [entry.path, entry.size]);
    expectSame('what was read', Object.fromEntries(contents), Object.fromEntries(sizes));
    expectSame('what another reader lists', await listFiles(bytes), Object.fromEntries(sizes));
    expectSame(
      'the sum',
      entries.reduce((sum, { size }) => sum + size, 0),
      unpacked,
    );
    const unsafe = entries.filter(
      (entry) => findPathProblem(entry.path) || entry.path.split('/').includes('..'),
    );
    expectSame('unsafe paths', unsafe, []);
  };
  const close = async () => rmSync(folder, { recursive: true });
  return {
    cases: fc.oneof(mutateBytes(fc.constantFrom(...sound)), lies, mutateBytes(lies)),
    run,
    summary: () => `${accepted} accepted, ${refused} refused`,
    close,
  };
}

function expectSame(what: string, one: unknown, other: unknown): void {
  const [left, right] = [one, other].map((value) => JSON.stringify(sortKeys(value)));
  if (left !== right) throw new Error(`${what}: ${left} is not ${right}`);
}

const sortKeys = (value: unknown) =>
  value !== null && typeof value === 'object' ? Object.entries(value).sort() : value;

/** The files of an archive and their sizes, as yauzl reads them by itself. */
function listFiles(bytes: Buffer): Promise<Record<string, number>> {
  return new Promise((resolve, reject) => {
    yauzl.fromBuffer(bytes, { lazyEntries: false }, (error, zip) => {
      if (error) return reject(error);
      const files: Record<string, number> = {};
      zip.on('entry', ({ fileName, uncompressedSize }) => {
        if (!fileName.endsWith('/')) files[fileName] = uncompressedSize;
      });
      zip.on('error', reject).on('end', () => resolve(files));
    });
  });
}

const ISO_BRANDS = ['isom', 'mp42', 'avif', 'heic', 'M4A ', 'qt  ', '\0\0\0\0'];

/** Boxes of MP4 with lengths that lie, and a Matroska head. */
const movies = fc.oneof(
  fc
    .tuple(
      fc.constantFrom(...ISO_BRANDS),
      fc.array(
        fc.tuple(
          fc.constantFrom('moov', 'mdat', 'free', 'x\0x'),
          fc.nat(200),
          fc.constantFrom(0, 0, 0, 1, 8),
        ),
      ),
    )
    .map(([brand, boxes]) => {
      const head = Buffer.from(`\0\0\0\x18ftyp${brand}\0\0\x02\0isomiso2`, 'latin1');
      return Buffer.concat([
        head,
        ...boxes.map(([name, size, lie]) => {
          const box = Buffer.alloc(16 + size);
          box.writeUInt32BE(lie || box.length);
          box.write(name, 4, 'latin1');
          return box;
        }),
      ]);
    }),
  fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.concat([Buffer.from('1a45dfa3', 'hex'), bytes])),
);

/** Images and videos of requests: they are taken or refused with a sentence, and nothing is left behind. */
export async function createMedia(): Promise<Target<{ kind: 'image' | 'video'; bytes: Buffer }>> {
  const picture = sharp({ create: { width: 20, height: 10, channels: 3, background: '#369' } });
  const formats = ['png', 'jpeg', 'webp', 'gif', 'tiff', 'avif'] as const;
  const images = await Promise.all(formats.map((format) => picture.clone().toFormat(format).toBuffer()));
  const folder = mkdtempSync(join(tmpdir(), 'regen-fuzz-'));
  let served: Buffer = Buffer.alloc(0);
  const server = await listenOn((_, answer) =>
    answer.writeHead(200, { 'content-type': 'video/mp4' }).end(served),
  );
  const inspector = new ImageInspector();
  let [accepted, refused] = [0, 0];
  const run = async ({ kind, bytes }: { kind: 'image' | 'video'; bytes: Buffer }) => {
    served = bytes;
    const origin = { serviceOrigin: server.url, loopbackAllowed: true };
    const shared = {
      field: 'image',
      folder,
      limits: DEFAULT_LIMITS,
      ...origin,
      owner: 'ann',
      inspector,
      signal: new AbortController().signal,
    };
    try {
      const content =
        kind === 'image'
          ? await loadImage(bytes.toString('base64'), shared).then(expectSize)
          : await loadVideo(`${server.url}/film`, shared);
      accepted += 1;
      if (typeof content === 'string') rmSync(content);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      refused += 1;
      // A video is fetched into the folder of its request, which is removed as a whole.
      if (kind === 'video') for (const file of readdirSync(folder)) rmSync(join(folder, file));
    }
    expectSame('what is left', readdirSync(folder), []);
  };
  const close = async () => {
    await server.close();
    await inspector.close();
    rmSync(folder, { recursive: true });
  };
  const cases = fc.oneof(
    fc.record({ kind: fc.constant('image' as const), bytes: mutateBytes(fc.constantFrom(...images)) }),
    fc.record({ kind: fc.constant('video' as const), bytes: fc.oneof(movies, mutateBytes(movies)) }),
  );
  return { cases, run, summary: () => `${accepted} accepted, ${refused} refused`, close };
}

function expectSize({
  content,
  width,
  height,
}: {
  content: Buffer | string;
  width: number;
  height: number;
}): Buffer | string {
  if (!(width > 0 && height > 0)) throw new Error(`An image of ${width} × ${height} pixels was accepted.`);
  return content;
}
