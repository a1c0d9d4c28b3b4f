import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { HttpError } from './problem.ts';
import { validate } from './validate.ts';

const schema = z.strictObject({
  name: z.string().trim().min(1),
  list: z.array(z.object({ n: z.int() })).optional(),
});

function errorsOf(value: unknown, where = ''): unknown {
  try {
    validate(schema, value, where);
  } catch (error) {
    if (error instanceof HttpError) return error.extras['errors'];
    throw error;
  }
  return undefined;
}

describe('validation', () => {
  test('gives back what the schema makes of a value', () => {
    expect(validate(schema, { name: ' x ' }, '')).toEqual({ name: 'x' });
  });

  test('points at what is wrong, all of it', () => {
    expect(errorsOf({ name: '', list: [{ n: 1 }, { n: 'x' }] })).toMatchObject([
      { pointer: '/name' },
      { pointer: '/list/1/n' },
    ]);
    expect(errorsOf({}, '/query')).toMatchObject([{ pointer: '/query/name' }]);
    expect(errorsOf(7)).toMatchObject([{ pointer: '' }]);
    expect(errorsOf(null, '/path')).toMatchObject([{ pointer: '/path' }]);
  });

  test('names the first thing in the detail of the problem', () => {
    expect(() => validate(schema, {}, '/query')).toThrow(/^\/query\/name: /);
  });

  test('names each unknown member by a pointer of RFC 6901', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.string(), { maxLength: 4 }), (names) => {
        const unknown = names.filter((name) => name !== 'name' && name !== 'list' && name !== '__proto__');
        const value = Object.fromEntries([['name', 'x'], ...unknown.map((name) => [name, 1])]);
        const errors = (errorsOf(value) ?? []) as { pointer: string; detail: string }[];
        const named = errors.map(({ pointer }) => pointer.slice(1).replaceAll('~1', '/').replaceAll('~0', '~'));
        expect(named.toSorted()).toEqual(unknown.toSorted());
        for (const { detail } of errors) expect(detail).toBe('is not known here');
      }),
    );
  });

  test('is a 422 with a stable code', () => {
    expect(() => validate(schema, {}, '')).toThrow(expect.objectContaining({ code: 'validation_failed' }));
  });
});
