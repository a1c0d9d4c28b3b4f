import { fitting } from './fitting.ts';
import { HttpError } from './problem.ts';

/** An item of a list in the order of creation. A page continues after the last item of the one before. */
interface Created {
  readonly createdAt: number;
  readonly id: string;
}

/** A page. The query asks for one item more than it holds, which tells whether the list goes on. */
export function createdPage<Item extends Created, Json>(
  found: readonly Item[],
  perPage: number,
  jsonOf: (item: Item) => Json,
): { items: Json[]; next_cursor: string | null } {
  const items = fitting(found.slice(0, perPage), jsonOf);
  const last = found[items.length - 1];
  const goesOn = last !== undefined && found.length > items.length;
  return { items, next_cursor: goesOn ? cursorAfter(last) : null };
}

export function createdAfter(cursor: string | undefined): Created | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, createdAt, id = ''] = /^v1:(\d{1,15}):(\w{1,64})$/.exec(text) ?? [];
  const place = { createdAt: Number(createdAt), id };
  if (createdAt !== undefined && cursorAfter(place) === cursor) return place;
  const detail = 'is not a cursor that this list has given';
  const errors = [{ pointer: '/query/cursor', detail }];
  throw new HttpError('validation_failed', `/query/cursor: ${detail}`, { errors });
}

function cursorAfter({ createdAt, id }: Created): string {
  return Buffer.from(`v1:${createdAt}:${id}`).toString('base64url');
}
