import { z } from 'zod';
import { DEFAULT_LIMITS } from '../../contract/schema/limits.js';
import { type MeasureUnit, measure } from './measure.js';

const LIMITS_DESCRIBED: Readonly<Record<LimitName, readonly [description: string, unit?: MeasureUnit]>> = {
  generationBody: ['Size of the body of a generation request', 'bytes'],
  imageBytes: ['Size of one image of a generation request, as a file', 'bytes'],
  imagePixels: ['Pixels of one image, decoded'],
  videoBytes: ['Size of the video to extend, as a file', 'bytes'],
  videoSeconds: ['Time that fetching the video to extend may take', 'seconds'],
  offPeakSeconds: ['Time after which an off-peak task is given up', 'seconds'],
  jsonBody: ['Size of any other JSON body', 'bytes'],
  anonymousBody: ['Size of the body of a request without a credential', 'bytes'],
  resultFiles: ['Files that a vendor may return for one task'],
  resultBytes: ['Size of these files together', 'bytes'],
  archive: ['Size of an archive', 'bytes'],
  archiveEntries: ['Files in an archive'],
  archiveUnpacked: ['Size of an archive, unpacked', 'bytes'],
  archiveRatio: ['Unpacked bytes per packed byte of an archive that unpacks to more than 16 MB'],
  bulkPairs: ['Pairs in one bulk request'],
  uploadBeginSeconds: ['Time within which an upload must begin', 'seconds'],
  uploadAbandonedSeconds: ['Time after which a version without an upload is given up', 'seconds'],
};

type LimitName = keyof typeof DEFAULT_LIMITS;
const limitFields = Object.entries(LIMITS_DESCRIBED).map(([name, [description, unit]]) => {
  const number = z.number().positive();
  const field: z.ZodType<number, number | string> = unit ? measure(unit, number) : number;
  return [name, field.default(DEFAULT_LIMITS[name as LimitName]).describe(description)];
});
type Limit = z.ZodDefault<z.ZodType<number, number | string>>;

/** Sizes and times of requests. */
export const LimitSettings = z.strictObject(
  Object.fromEntries(limitFields) as { [Name in LimitName]: Limit },
);
