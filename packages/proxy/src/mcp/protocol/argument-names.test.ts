import { describe, expect, it, test } from 'vitest';
import { argumentNames, noNames, twinIn } from './argument-names.ts';

test('twins differ by case alone, and are not both declared', () => {
  const twin = (keys: readonly string[], declared: readonly string[]) =>
    twinIn(named(keys), argumentNames({ properties: named(declared) }));
  const named = (keys: readonly string[]) => Object.fromEntries(keys.map((key) => [key, {}]));
  expect(twin(['path', 'Path'], [])).toBe('Path');
  expect(twin(['Path'], ['path'])).toBe('Path');
  expect(twin(['Path', 'path'], ['path'])).toBe('Path');
  expect(twin(['a', 'A'], ['a', 'A'])).toBeUndefined();
  expect(twin(['a', 'b', 'ab'], ['c'])).toBeUndefined();
});

describe('a name in the arguments', () => {
  const file = { type: 'object', properties: { path: {}, more: { $ref: '#/$defs/file' } } };
  const schema = {
    $defs: { file },
    properties: {
      name: {},
      file: { $ref: '#/$defs/file' },
      files: { type: 'array', items: { anyOf: [{ type: 'string' }, { $ref: '#/$defs/file' }] } },
      byId: { additionalProperties: { allOf: [{ properties: { owner: {} } }, { properties: { team: {} } }] } },
      env: { type: 'object' },
    },
  };
  const names = argumentNames(schema);

  it.each([
    [{ Name: 'x' }, 'Name'],
    [{ file: { Path: '/etc/shadow' } }, 'Path'],
    [{ file: { path: '/ok', PATH: '/etc/shadow' } }, 'PATH'],
    [{ file: { more: { more: { MORE: 1 } } } }, 'MORE'],
    [{ files: ['a', { path: 'a' }, { patH: 'b' }] }, 'patH'],
    [{ byId: { Any: { Team: 1 } } }, 'Team'],
    [{ byId: { Any: { Owner: 1 } } }, 'Owner'],
    [{ env: { a: [{ b: 1, B: 2 }] } }, 'B'],
    [{ file: { path: 'a' }, files: [{ path: 'b' }], env: { Path: 'c', Name: 'd' }, byId: { Name: {} } }, undefined],
    ['text', undefined],
  ])('%j has the twin %s', (args, twin) => {
    expect(twinIn(args, names)).toBe(twin);
  });

  it('is found without a schema, or with one that is none', () => {
    for (const none of [
      noNames,
      argumentNames(undefined),
      argumentNames({ properties: 7, items: [null], $ref: '#/x' }),
    ]) {
      expect(twinIn({ a: { b: 1, B: 1 } }, none)).toBe('B');
      expect(twinIn({ a: { B: 1 } }, none)).toBeUndefined();
    }
  });

  it('is read from no schema forever', () => {
    const loop: Record<string, unknown> = { $ref: '#', allOf: [{ $ref: '#' }], properties: { a: { $ref: '#' } } };
    expect(twinIn({ a: { a: { A: 1 } } }, argumentNames(loop))).toBe('A');
    const wide = { anyOf: Array.from({ length: 1000 }, (_, at) => ({ properties: { [`p${at}`]: loop, b: loop } })) };
    expect(twinIn({ b: 1, B: 1 }, argumentNames(wide))).toBe('B');
  });
});
