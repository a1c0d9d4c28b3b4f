import { beforeEach, expect, test } from 'vitest';
import { parseSource } from '../policy/parse-source.ts';
import { PastPolicies } from './candidate.ts';

let read: string[];
let past: PastPolicies;

const texts: Readonly<Record<string, string>> = { broken: 'rules: 7', two: 'name: a\n---\nname: b\nscope: org:acme\n' };

beforeEach(() => {
  read = [];
  const find = (version: string) => {
    read.push(version);
    if (version === 'forgotten') return Promise.resolve(undefined);
    return Promise.resolve([
      { file: 'good.yaml', text: 'name: good' },
      { file: 'p.yaml', text: texts[version] ?? `name: ${version}` },
    ]);
  };
  past = new PastPolicies({ find }, (source) => parseSource(source, {}));
});

test('a set that was in force has all its documents, and its version', async () => {
  const set = await past.find('two');
  expect([set?.version, set?.documents.map(({ name }) => name)]).toEqual(['two', ['good', 'a', 'b']]);
});

test('a set that is not remembered, or that cannot be read any more, is not found', async () => {
  expect(await past.find('forgotten')).toBeUndefined();
  expect(await past.find('broken')).toBeUndefined();
});

test('the four sets that were asked for last are not read again', async () => {
  for (const version of ['v1', 'v2', 'v3', 'v4', 'v1']) expect((await past.find(version))?.version).toBe(version);
  expect(read).toEqual(['v1', 'v2', 'v3', 'v4']);
  await past.find('v5');
  for (const version of ['v1', 'v3', 'v4', 'v5']) await past.find(version);
  expect(read).toEqual(['v1', 'v2', 'v3', 'v4', 'v5']);
  await past.find('v2');
  expect(read.at(-1)).toBe('v2');
});
