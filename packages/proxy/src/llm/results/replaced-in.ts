import type { JsonRequest } from '../json-request.ts';
import type { Place } from './json-places.ts';
import { JsonPlaces } from './json-places.ts';

/** A value to put in place of another one of the body. */
export interface Replacement {
  readonly path: readonly (string | number)[];
  readonly content: unknown;
}

/** What to put at a place. */
export interface Cut extends Place {
  readonly text: Buffer;
}

/** The body with other values. Every other byte stays. */
export function replacedIn({ body }: JsonRequest, replacements: readonly Replacement[]): Buffer {
  return withCuts(body, cutsFor(body, replacements));
}

/** Where values stand that are to be replaced, and what is to stand there. */
export function cutsFor(body: Buffer, replacements: readonly Replacement[]): readonly Cut[] {
  const places = new JsonPlaces(body);
  return replacements.map(({ path, content }) => {
    const place = places.find(path);
    if (place === undefined) throw new Error('the message is not where it was');
    return { ...place, text: Buffer.from(JSON.stringify(content)) };
  });
}

/** The body with something else at some places. Every other byte stays. */
export function withCuts(body: Buffer, cuts: readonly Cut[]): Buffer {
  const parts: Buffer[] = [];
  let end = 0;
  for (const { from, to, text } of cuts.toSorted((one, other) => one.from - other.from)) {
    parts.push(body.subarray(end, from), text);
    end = to;
  }
  return Buffer.concat([...parts, body.subarray(end)]);
}
