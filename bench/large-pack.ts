import { copyFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import sharp from 'sharp';

const SOURCE_FILES = 31_440;
const PICTURES = 160;
const WEIGHT_FILES = 3;
const WEIGHTS_PER_FILE = 28_000_000;

/** Writes a pack of about 1 GB: a third each of source files, pictures and weights. The same each time. */
export async function writeLargePack(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'pyproject.toml'),
    '[project]\nname = "large-pack"\nversion = "1.0.0"\n\n[tool.comfy]\nPublisherId = "bench"\n',
  );
  copySources(join(folder, 'source'));
  await writePictures(join(folder, 'pictures'));
  writeWeights(join(folder, 'weights'));
}

/** Copies text files of the installed packages, the same ones again until there are enough. */
function copySources(folder: string): void {
  const sources = readdirSync('node_modules', { recursive: true, encoding: 'utf8' })
    .filter((path) => ['.js', '.mjs', '.ts', '.md', '.json'].includes(extname(path)))
    .map((path) => join('node_modules', path))
    .filter((path) => {
      const stats = statSync(path);
      return stats.isFile() && stats.size > 2_000 && stats.size < 60_000;
    })
    .sort();
  for (let index = 0; index < SOURCE_FILES; index++) {
    const source = sources[index % sources.length] as string;
    const below = join(folder, `part-${Math.floor(index / 400)}`);
    if (index % 400 === 0) mkdirSync(below, { recursive: true });
    copyFileSync(source, join(below, `${index}${extname(source)}`));
  }
}

/** Pictures of noise over a gradient, half of them JPEG and half PNG. */
async function writePictures(folder: string): Promise<void> {
  mkdirSync(folder);
  const [width, height] = [1000, 750];
  const next = createRandom(1);
  const noise = Uint8Array.from({ length: width * height * 4 }, () => 128 * next());
  for (let index = 0; index < PICTURES; index++) {
    const data = Buffer.alloc(width * height * 3);
    for (let at = 0; at < data.length; at++)
      data[at] = ((at / width) & 127) + (noise[at + index * 1237] as number);
    const picture = sharp(data, { raw: { width, height, channels: 3 } });
    const file = join(folder, `${index}.${index % 2 ? 'jpg' : 'png'}`);
    await (index % 2 ? picture.resize(2 * width).jpeg({ quality: 96 }) : picture.png()).toFile(file);
  }
}

/** Normally distributed 32-bit floats, as untrained weights are. The files begin at other places of one sequence. */
function writeWeights(folder: string): void {
  mkdirSync(folder);
  const next = createRandom(2);
  const weights = Float32Array.from({ length: WEIGHTS_PER_FILE }, () => {
    return 0.02 * Math.sqrt(-2 * Math.log(next())) * Math.cos(2 * Math.PI * next());
  });
  for (let index = 0; index < WEIGHT_FILES; index++) {
    const begin = index * 1_000_003;
    writeFileSync(
      join(folder, `${index}.safetensors`),
      Buffer.concat([
        new Uint8Array(weights.buffer, begin * 4),
        new Uint8Array(weights.buffer, 0, begin * 4),
      ]),
    );
  }
}

/** Numbers from above 0 to 1, the same for the same seed. */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return (state + 1) / 2 ** 32;
  };
}
