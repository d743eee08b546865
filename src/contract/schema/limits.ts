/** Decided: the limits of the service, each configurable; in bytes unless the name says otherwise. */
export const DEFAULT_LIMITS = {
  generationBody: 150 * 1024 ** 2,
  /** One image of a generation request, as a file. */
  imageBytes: 50 * 1024 ** 2,
  /** Pixels of one image, decoded. */
  imagePixels: 100_000_000,
  /** The video to extend, as a file, and how long fetching it may take. */
  videoBytes: 500 * 1024 ** 2,
  videoSeconds: 50,
  /** When an off-peak task is given up: service.md says "generated within 48 hours". */
  offPeakSeconds: 48 * 60 * 60,
  /** What a vendor may return for one task: files, and their bytes together. */
  resultFiles: 20,
  resultBytes: 4 * 1024 ** 3,
  jsonBody: 20 * 1024 ** 2,
  /** The body of a request without a credential. */
  anonymousBody: 1024 ** 2,
  archive: 2 * 1024 ** 3,
  archiveEntries: 50_000,
  archiveUnpacked: 8 * 1024 ** 3,
  /** Unpacked bytes per packed byte, of archives that unpack to more than 16 MiB. */
  archiveRatio: 200,
  bulkPairs: 1000,
  uploadBeginSeconds: 15 * 60,
  uploadAbandonedSeconds: 24 * 60 * 60,
} as const;

export type Limits = { -readonly [Name in keyof typeof DEFAULT_LIMITS]: number };

/** Unpacking less than this costs next to nothing: a table of zeros is not a bomb. */
const MIN_BOMB_BYTES = 16 * 1024 ** 2;

/** Whether an archive of `size` bytes is a zip bomb. */
export function isZipBomb(
  size: number,
  unpacked: number,
  { archiveRatio }: Pick<Limits, 'archiveRatio'>,
): boolean {
  return unpacked > Math.max(size * archiveRatio, MIN_BOMB_BYTES);
}
