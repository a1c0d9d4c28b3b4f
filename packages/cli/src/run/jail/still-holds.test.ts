import { expect, test } from 'vitest';
import type { Mount } from './plan-files.ts';
import { stillHolds } from './still-holds.ts';

const folder = '/home/ada/project';
const project: Mount = { as: 'write', path: folder };
const git: Mount = { as: 'read', path: `${folder}/.git` };
const made = { folder, mounts: [{ as: 'empty', path: '/home/ada', isWritable: false }, project, git] as const };

test.each<[string, boolean, readonly Mount[]]>([
  ['the same', true, []],
  ['settings that are new', false, [{ as: 'read', path: `${folder}/sub/.claude` }]],
  ['a socket that is new', false, [{ as: 'nothing', path: `${folder}/socket` }]],
  ['a socket in a folder that is read-only', false, [{ as: 'nothing', path: `${folder}/.git/socket` }]],
  ['what is in a folder that is read-only anyway', true, [{ as: 'read', path: `${folder}/.git/hooks` }]],
  ['a parent that must not be moved', false, [{ as: 'write', path: `${folder}/sub` }]],
  ['a folder that is to be hidden', false, [{ as: 'empty', path: `${folder}/.git/secret`, isWritable: false }]],
])('a jail holds what is there later: %s', (_, holds, more) => {
  expect(stillHolds(made, { folder, mounts: [...made.mounts, ...more] })).toBe(holds);
});

test('what may be written inside of what is read-only counts as writable', () => {
  const inside: Mount = { as: 'write', path: `${folder}/.git/hooks` };
  const now = { folder, mounts: [...made.mounts, inside, { as: 'read', path: `${inside.path}/.claude` } as const] };
  expect(stillHolds({ folder, mounts: [...made.mounts, inside] }, now)).toBe(false);
});

test('a jail for another folder holds nothing, and what is gone does no harm', () => {
  expect(stillHolds(made, { ...made, folder: '/home/ada/other' })).toBe(false);
  expect(stillHolds(made, { folder, mounts: [project] })).toBe(true);
});
