import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { cursorAfter, cursorOf, cursorOfUserRuns, idOf, placeOf, userRunsPlaceOf } from './cursor.ts';

const refused = expect.objectContaining({
  code: 'validation_failed',
  extras: { errors: [{ pointer: '/query/cursor', detail: 'is not a cursor that this list has given' }] },
});

describe('a cursor', () => {
  test('leads back to its place', () => {
    fc.assert(fc.property(fc.nat({ max: 999_999_999_999_999 }), (place) => placeOf(cursorOf(place) ?? '') === place));
  });

  test('of the runs of a user leads back to its place, and one of another list is refused', () => {
    const before = fc.nat({ max: 999_999_999_999_999 });
    const end = fc.option(fc.record({ at: before, id: fc.stringMatching(/^[0-9a-f]{32}$/) }), { nil: undefined });
    fc.assert(
      fc.property(fc.record({ before, end }), (place) => {
        expect(userRunsPlaceOf(cursorOfUserRuns(place) ?? '')).toEqual(place);
      }),
    );
    for (const text of [
      'v1:1:abc',
      'v1:01',
      'v1:1:2',
      'v1:1:2:',
      'v1:1:02:a',
      'v1:1:2:a:b',
      'v1::1:a',
      'v1:9999999999999999',
    ]) {
      expect(() => userRunsPlaceOf(Buffer.from(text).toString('base64url')), text).toThrow(refused);
    }
  });

  test('is no cursor where there is no place', () => {
    expect(cursorOf(null)).toBeNull();
    expect(placeOf(undefined)).toBeUndefined();
  });

  test('can stand in a URL as it is', () => {
    fc.assert(fc.property(fc.nat(), (place) => /^[\w-]+$/.test(cursorOf(place) ?? '')));
  });

  test('that was made up is refused, and whatever is accepted is one that was given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String(), fc.nat().map(String)), (made) => {
        let place: number | undefined;
        try {
          place = placeOf(made);
        } catch (error) {
          expect(error).toEqual(refused);
          return;
        }
        expect(cursorOf(place ?? null)).toBe(made);
      }),
    );
  });

  test.each([
    'v1:',
    'v1:-1',
    'v1:1.5',
    'v1:1e3',
    'v1:01',
    'v1:1 ',
    ' v1:1',
    'v1:1\n',
    'v2:1',
    'v1:9999999999999999',
    'v1:1;2',
  ])('that holds %j is refused', (text) => {
    expect(() => placeOf(Buffer.from(text).toString('base64url'))).toThrow(refused);
  });

  test('with other bits at its end, padding or another alphabet is refused', () => {
    const cursor = cursorOf(1) ?? '';
    for (const other of [`${cursor}=`, `${cursor}A`, ` ${cursor}`, cursor.slice(0, -1), `${cursor.slice(0, -1)}R`]) {
      if (other !== cursor) expect(() => placeOf(other)).toThrow(refused);
    }
  });
});

describe('a cursor after a record', () => {
  const ids = fc.stringMatching(/^[A-Za-z0-9_-]{1,64}$/);

  test('leads back to its id, and can stand in a URL as it is', () => {
    fc.assert(
      fc.property(ids, (id) => {
        const cursor = cursorAfter(id) ?? '';
        expect(cursor).toMatch(/^[\w-]+$/);
        expect(idOf(cursor)).toBe(id);
      }),
    );
    expect(cursorAfter(null)).toBeNull();
    expect(idOf(undefined)).toBeUndefined();
  });

  test('that was made up is refused, and whatever is accepted is one that was given', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.base64String()), (made) => {
        let id: string | undefined;
        try {
          id = idOf(made);
        } catch (error) {
          expect(error).toEqual(refused);
          return;
        }
        expect(cursorAfter(id ?? null)).toBe(made);
      }),
    );
    for (const text of ['v1:', 'v2:a', 'v1:a b', `v1:${'x'.repeat(129)}`, 'v1:é', 'v1:a\n']) {
      expect(() => idOf(Buffer.from(text).toString('base64url'))).toThrow(refused);
    }
  });
});
