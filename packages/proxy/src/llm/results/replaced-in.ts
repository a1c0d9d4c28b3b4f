import type { JsonRequest } from '../json-request.ts';
import { JsonPlaces } from './json-places.ts';

/** A value to put in place of another one of the body. */
export interface Replacement {
  readonly path: readonly (string | number)[];
  readonly content: unknown;
}

/** The body with other values. Every other byte stays. */
export function replacedIn({ body }: JsonRequest, replacements: readonly Replacement[]): Buffer {
  const places = new JsonPlaces(body);
  const cuts = replacements.map(({ path, content }) => {
    const place = places.find(path);
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
