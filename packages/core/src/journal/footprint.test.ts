import { describe, expect, test } from 'vitest';
import { Footprint } from './footprint.ts';
import type { Touched } from './shared-log.ts';

interface Members extends Partial<Touched> {
  readonly names?: readonly string[];
  readonly isUnknown?: true;
}

function footprint({ names, isUnknown, ...members }: Members): Footprint {
  const made = new Footprint();
  made.addTouched({ agents: [], orgs: [], everything: false, ...members });
  made.addNames(names ?? []);
  if (isUnknown === true) made.addUnknown();
  return made;
}

describe('what rests on what', () => {
  test.each<[string, Members, Members, boolean]>([
    ['an agent on itself', { agents: ['a/b/c'] }, { agents: ['a/b/c'] }, true],
    ['an agent not on another', { agents: ['a/b/c'] }, { agents: ['a/b/d'] }, false],
    ['an agent on its org', { agents: ['a/b/c'] }, { orgs: ['a'] }, true],
    ['an agent not on another org', { agents: ['a/b/c'] }, { orgs: ['ab'] }, false],
    ['an agent without an org on those without', { agents: ['/b/c'] }, { orgs: [''] }, true],
    ['an org on its agents', { orgs: ['a'] }, { agents: ['a/b/c'] }, true],
    ['an org on itself', { orgs: ['a'] }, { orgs: ['a'] }, true],
    ['an org not on another', { orgs: ['a'] }, { orgs: ['b'], agents: ['b/b/c'] }, false],
    ['everything on anything', { everything: true }, { agents: ['a/b/c'] }, true],
    ['anything on everything', { agents: ['a/b/c'] }, { everything: true }, true],
    ['nothing on everything', {}, { everything: true }, false],
    ['everything not on nothing', { everything: true }, {}, false],
    ['an org itself on the org', { agents: ['a/'] }, { orgs: ['a'] }, true],
    ['an org itself not on its agents', { agents: ['a/'] }, { agents: ['a/b/c'] }, false],
    ['a name on itself', { names: ['x', 'y'] }, { names: ['y'] }, true],
    ['a name not on another', { names: ['x'] }, { names: ['y'], agents: ['a/b/c'] }, false],
    ['a name not on everybody', { names: ['x'] }, { everything: true }, false],
    ['a name on what nobody can read', { names: ['x'] }, { isUnknown: true }, true],
    ['an agent not on what nobody can read elsewhere', { agents: ['a/b/c'] }, { isUnknown: true }, false],
  ])('%s', (_, read, changed, expected) => {
    expect(footprint(read).restsOn(footprint(changed))).toBe(expected);
    const collected = new Footprint();
    collected.addAll(footprint(changed));
    expect(footprint(read).restsOn(collected)).toBe(expected);
  });
});
