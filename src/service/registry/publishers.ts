import type { Database, Tx } from '../context.js';
import type { Answer, Call } from '../http/handler.js';
import { Refused } from '../refused.js';
import { refuseLarge } from './details.js';
import { record } from './events.js';
import { type PublisherRow, publisherViews } from './publisher-view.js';
import { requireSameIds } from './same-id.js';
import { type Sight, sightOf } from './sight.js';
import { visiblePublisher } from './visible.js';

type View = Answer<'publisher.get'>;

type Texts = Pick<PublisherRow, (typeof textFields)[number]>;
const textFields = ['description', 'logo', 'source_code_repo', 'support', 'website'] as const;

export async function createPublisher(call: Call<'publisher.create'>, tx: Tx): Promise<View> {
  const { body, caller, context } = call;
  const actor = caller.userId as string;
  const taken = await tx.selectFrom('publishers').select('id').where('id', '=', body.id).executeTakeFirst();
  if (taken)
    throw new Refused('duplicate_publisher', `The publisher id ${body.id} is taken; choose another.`);
  const created_at = new Date(context.now()).toISOString();
  const texts = Object.fromEntries(textFields.map((field) => [field, body[field] ?? null])) as Texts;
  refuseLarge({ name: body.name, ...texts }, 'publisher');
  await tx
    .insertInto('publishers')
    .values({
      ...texts,
      id: body.id,
      name: body.name,
      status: 'PublisherStatusActive',
      status_reason: null,
      created_at,
    })
    .execute();
  // Decided: the creator is the first owner.
  await tx
    .insertInto('members')
    .values({ publisher_id: body.id, user_id: actor, role: 'owner', created_at })
    .execute();
  await record(tx, context.now, { actor, kind: 'publisher', id: body.id, action: 'publisher.create' });
  return view(tx, await sightOf(tx, caller), body.id);
}

export async function getPublisher(call: Call<'publisher.get'>, database: Database): Promise<View> {
  return view(database, await sightOf(database, call.caller), call.params.publisherId);
}

export async function listPublishers(
  { caller }: Call<'publisher.list'>,
  database: Database,
): Promise<Answer<'publisher.list'>> {
  const sight = await sightOf(database, caller);
  if (sight.publishers.size === 0) return [];
  const rows = await database
    .selectFrom('publishers')
    .selectAll()
    .where('id', 'in', [...sight.publishers])
    .orderBy('id')
    .execute();
  return [...(await publisherViews(database, sight, rows)).values()];
}

export async function updatePublisher(call: Call<'publisher.update'>, tx: Tx): Promise<View> {
  const { body, caller, context } = call;
  const id = call.params.publisherId;
  requireSameIds({ path: 'id', given: body.id, expected: id });
  const fields = (['name', ...textFields] as const).filter((field) => body[field] !== undefined);
  if (fields.length > 0) {
    const changes = Object.fromEntries(fields.map((field) => [field, body[field]]));
    refuseLarge({ ...(await visiblePublisher(tx, await sightOf(tx, caller), id)), ...changes }, 'publisher');
    await tx.updateTable('publishers').set(changes).where('id', '=', id).execute();
    const actor = caller.userId as string;
    await record(tx, context.now, { actor, kind: 'publisher', id, action: 'publisher.update' });
  }
  return view(tx, await sightOf(tx, caller), id);
}

async function view(database: Database, sight: Sight, publisherId: string): Promise<View> {
  const row = await visiblePublisher(database, sight, publisherId);
  return (await publisherViews(database, sight, [row])).get(row.id) as View;
}
