import { describe, expect, it, test } from 'vitest';
import type { ArgumentNames } from './argument-names.ts';
import { argumentNames, noNames, twinIn } from './argument-names.ts';

function namesIn(schema: unknown): ArgumentNames {
  const names = argumentNames(schema);
  if (names === undefined) throw new RangeError('too many names');
  return names;
}

test('twins differ by case alone, and are not both declared', () => {
  const twin = (keys: readonly string[], declared: readonly string[]) =>
    twinIn(named(keys), namesIn({ properties: named(declared) }));
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
  const names = namesIn(schema);

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
    for (const none of [noNames, namesIn(undefined), namesIn({ properties: 7, items: [null], $ref: '#/x' })]) {
      expect(twinIn({ a: { b: 1, B: 1 } }, none)).toBe('B');
      expect(twinIn({ a: { B: 1 } }, none)).toBeUndefined();
    }
  });

  it('is read from no schema forever', () => {
    const loop: Record<string, unknown> = { $ref: '#', allOf: [{ $ref: '#' }], properties: { a: { $ref: '#' } } };
    expect(twinIn({ a: { a: { A: 1 } } }, namesIn(loop))).toBe('A');
    const wide = { anyOf: Array.from({ length: 1000 }, (_, at) => ({ properties: { [`p${at}`]: loop, b: loop } })) };
    expect(argumentNames(wide)).toBeUndefined();
  });

  it('is compared with the names beside a union that refers to itself', () => {
    const group = { type: 'object', properties: { args: { type: 'array', items: { $ref: '#/properties/filter' } } } };
    const filter = { anyOf: [group, { ...group, properties: { ...group.properties, not: { $ref: '#' } } }] };
    const names = namesIn({ properties: { filter, path: {} } });
    expect(twinIn({ Path: '/etc/shadow' }, names)).toBe('Path');
    expect(twinIn({ filter: { args: [{ args: [{ ARGS: [] }] }] } }, names)).toBe('ARGS');
  });

  it.each([
    ['patternProperties', { patternProperties: { '^x-': { properties: { path: {} } } } }, { 'x-a': { Path: 1 } }],
    ['if, then and else', JSON.parse('{ "if": {}, "then": { "properties": { "path": {} } } }'), { Path: 1 }],
    ['dependentSchemas', { dependentSchemas: { a: { properties: { path: {} } } } }, { Path: 1 }],
    ['a place in a list', { $ref: '#/anyOf/0', anyOf: [{ properties: { path: {} } }] }, { Path: 1 }],
    ['an escaped place', { $ref: '#/$defs/a%20b', $defs: { 'a b': { properties: { path: {} } } } }, { Path: 1 }],
  ])('is compared with those of %s', (_, schema, args) => {
    expect(twinIn(args, namesIn(schema))).toBe('Path');
  });

  it('cannot be compared with more names than are read, however they are hidden', () => {
    const many = Object.fromEntries(Array.from({ length: 100_000 }, (_, at) => [`k${at}`, {}]));
    const self = { $ref: '#' };
    const unions = { anyOf: [{ properties: { a: self, ...many } }, { properties: { a: self } }] };
    for (const schema of [{ properties: many }, unions]) expect(argumentNames(schema)).toBeUndefined();
  });
});
