import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { documentsOf, packTitles } from '../../packages/dashboard/src/pages/policies/policy-packs.ts';

const cli = join(import.meta.dirname, '../../packages/cli');

function sourcesIn(folder: string): string[] {
  const files = readdirSync(folder).filter((file) => file.endsWith('.yaml'));
  return files.map((file) => readFileSync(join(folder, file), 'utf8'));
}

test('every pack of the command line can be chosen', () => {
  expect(Object.keys(packTitles).toSorted()).toEqual(
    ['starter', ...readdirSync(join(cli, 'packs'))].toSorted((a, b) => a.localeCompare(b)),
  );
});

test.each(['starter', 'packs/coding-agents', 'packs/flow', 'packs/mcp', 'packs/models'])(
  'what %s allows comes in force after what guards it',
  (pack) => {
    const names = documentsOf(sourcesIn(join(cli, pack))).map(({ name }) => name);
    expect(names.length).toBeGreaterThan(1);
    expect(names.at(-1)).toMatch(/everyday$|^models$/);
  },
);

test('a document without a name is no part of a pack', () => {
  expect(() => documentsOf(['rules: []'])).toThrow('no name');
});
