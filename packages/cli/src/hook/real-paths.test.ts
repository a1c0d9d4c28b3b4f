import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fingerprintOf } from './operation-ids.ts';
import { planFile } from './plan-actions.ts';
import { withRealPaths } from './real-paths.ts';

let folder = '';
beforeAll(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-')));
  mkdirSync(join(folder, '.ssh'));
  symlinkSync('.ssh', join(folder, 'notes'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const place = () => ({ cwd: folder, home: '/home/ada' });
const pathsOf = (path: string) =>
  withRealPaths([planFile('read', path, place())]).map(({ action }) => 'path' in action && action.path);

test('a file behind a link is judged by both names', () => {
  expect(pathsOf('notes')).toEqual([join(folder, 'notes'), join(folder, '.ssh')]);
  expect(pathsOf('notes/new/key')).toEqual([join(folder, 'notes/new/key'), join(folder, '.ssh/new/key')]);
  expect(pathsOf('.ssh/key')).toEqual([join(folder, '.ssh/key')]);
  expect(pathsOf('/nowhere/at/all')).toEqual(['/nowhere/at/all']);
});

test('a file that several names lead to is judged once', () => {
  const planned = ['.ssh', 'notes', '.ssh'].map((path) => planFile('read', path, place()));
  const paths = withRealPaths(planned).map(({ action }) => 'path' in action && action.path);
  expect(paths).toEqual([join(folder, '.ssh'), join(folder, 'notes')]);
});

test('the other name does not make it another tool use', () => {
  const actions = [planFile('read', 'notes', place())];
  expect(fingerprintOf(withRealPaths(actions))).toBe(fingerprintOf(actions));
});

test('a pattern is judged by the files that it stands for as well', () => {
  const planned = { ...planFile('read', '.s*', place()), isPattern: true };
  const paths = withRealPaths([planned]).map(({ action }) => 'path' in action && action.path);
  expect(paths).toEqual([join(folder, '.s*'), join(folder, '.ssh')]);
  const hidden = { ...planFile('read', '*', place()), isPattern: true };
  const found = withRealPaths([hidden]).map(({ action }) => 'path' in action && action.path);
  expect(found).toEqual([join(folder, '*'), join(folder, 'notes'), join(folder, '.ssh')]);
});

describe('two stars are any number of folders', () => {
  let tree = '';
  beforeAll(() => {
    tree = realpathSync(mkdtempSync(join(tmpdir(), 'reeve-')));
    mkdirSync(join(tree, 'deep/er'), { recursive: true });
    writeFileSync(join(tree, 'deep/er/x.pem'), '');
    symlinkSync('..', join(tree, 'deep/er/up'));
  });
  afterAll(() => rmSync(tree, { recursive: true }));

  test.each(['**/*.pem', 'deep/**/x.pem', '**/er/**/*', 'deep/er/**', '**'])('%s', (pattern) => {
    const planned = { ...planFile('read', pattern, { ...place(), cwd: tree }), isPattern: true };
    const paths = withRealPaths([planned]).map(({ action }) => 'path' in action && action.path);
    expect(paths).toContain(join(tree, 'deep/er/x.pem'));
  });
});
