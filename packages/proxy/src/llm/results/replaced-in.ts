import type { JsonRequest } from '../json-request.ts';
import type { Place } from './json-items.ts';
import { jsonItems, placeAt } from './json-items.ts';

/** A value to put in place of another one, which stands in an item of a list of the body. */
export interface Replacement {
  readonly path: readonly (string | number)[];
  readonly content: unknown;
}

/** The body with other values. Every other byte stays. */
export function replacedIn({ body, places }: JsonRequest, replacements: readonly Replacement[]): Buffer {
  const lists = new Map<string, readonly Place[]>();
  const itemsOf = (name: string) => {
    const list = places.members.find(({ key }) => key === name);
    const items = lists.get(name) ?? (list === undefined ? [] : jsonItems(body, list));
    lists.set(name, items);
    return items;
  };
  const cuts = replacements.map(({ path: [name, at, ...rest], content }) => {
    const item = itemsOf(String(name))[Number(at)];
    const place = item === undefined ? undefined : placeAt(body, item, rest);
    if (place === undefined) throw new Error('the message is not where it was');
    return { ...place, text: Buffer.from(JSON.stringify(content)) };
  });
  const parts: Buffer[] = [];
  let end = 0;
  for (const { from, to, text } of cuts.toSorted((one, other) => one.from - other.from)) {
    parts.push(body.subarray(end, from), text);
    end = to;
  }
  return Buffer.concat([...parts, body.subarray(end)]);
}
