import type { z } from 'zod';
import type { TaskKind } from '../../contract/operation.js';
import { checkValue } from '../../contract/schema/check.js';
import { findImageFields } from '../../contract/schema/image-rules.js';
import type { ImageSource, Job } from '../../flows/tasks/start-task.js';
import { STANDARD_PORT } from '../../wire/standard-port.js';
import { toInvalidFailure } from '../command/request.js';
import type { Needs } from '../connect/context.js';
import { chooseName, parseSource } from '../generation/plan.js';
import type { FailureDetail } from '../terminal/failure.js';
import { isInside, MAX_PATH_CHARACTERS } from './inside.js';

const IMAGE_FORMS = 'a path in the folder, a URL, or data:<type>;base64,<data>';

/**
 * Plans the task that a tool starts. Its images are files of a folder, URLs or data.
 * @param fields the body of the operation
 * @throws Failure with all problems, by the names of the fields
 */
export async function planToolJob(
  name: string,
  fields: Readonly<Record<string, unknown>>,
  { folder, services }: Needs<'services'> & { readonly folder: string },
): Promise<Job> {
  const { open } = await (await services.findFormat()).declare(name);
  const schema = open.body as z.ZodObject;
  const { kind } = open.task as { readonly kind: TaskKind };
  const details: FailureDetail[] = [];
  const images: Record<string, ImageSource | readonly ImageSource[]> = {};
  const body = { ...fields };
  // The rest of the request can be checked without the contents of the files.
  const checked = { ...fields };
  for (const field of findImageFields(schema)) {
    const given = fields[field];
    const texts = [given].flat();
    if (!texts.every((text) => typeof text === 'string')) continue;
    const sources = texts.map((text) => findImage(folder, text));
    const pick = <One>(list: readonly One[]) => (Array.isArray(given) ? list : (list[0] as One));
    for (const source of sources)
      if ('problem' in source) details.push({ path: field, message: source.problem });
    images[field] = pick(sources as ImageSource[]);
    checked[field] = pick(sources.map((source) => ('url' in source ? source.url : 'AAAA')));
    delete body[field];
  }
  const service = services.target.baseUrl ?? `http://127.0.0.1:${STANDARD_PORT}`;
  const result = checkValue(schema, checked, { service });
  const problems = result.ok ? [] : result.problems;
  details.push(...problems.map(({ path, message }) => ({ path: path.join('.'), message })));
  if (details.length > 0) throw toInvalidFailure(details);
  return { operation: name, body, images, name: chooseName(images, kind) };
}

/** What is neither a URL nor data is the path of a file. */
function findImage(folder: string, text: string): ReturnType<typeof parseSource> {
  if (/^(?:https?|data|base64):/i.test(text)) return parseSource(text, folder);
  if (/^[@-]|^$/.test(text) || text.length > MAX_PATH_CHARACTERS)
    return { problem: `must be ${IMAGE_FORMS}` };
  if (isInside(folder, text)) return parseSource(text, folder);
  return { problem: `names a file outside the folder of this server; it must be ${IMAGE_FORMS}` };
}
