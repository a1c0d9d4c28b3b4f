import { describe, expect, test } from 'vitest';
import type { Condition, PolicyFeatures } from '../condition.ts';
import { parseSource } from '../parse-source.ts';
import { acceptedBefore, PolicyRegistry } from './policy-registry.ts';
import type { PolicyVersion } from './policy-version.ts';
import { tenantBounds, tenantProblems } from './tenant-bounds.ts';

/** A condition here is the number of instructions that it becomes. */
const compileCondition = (text: string): Condition => Object.assign(() => true, { instructions: Number(text) });
const features: PolicyFeatures = { compileCondition };
const nowhere = {
  find: () => Promise.resolve(undefined),
  outline: () => Promise.resolve([]),
  versions: () => Promise.resolve([]),
  alone: () => Promise.reject(new Error('nothing is stored here')),
};
const acme = { orgId: 'acme', teamId: null, scopes: ['admin'], actor: { kind: 'system', id: '' } } as never;
const operator = { orgId: null, teamId: null, scopes: ['admin'], actor: { kind: 'system', id: '' } } as never;
const bounds = { documents: 3, characters: 300, instructions: 50 };

function saved(name: string, source: string | null, members: Partial<PolicyVersion> = {}): PolicyVersion {
  const by = { kind: 'system', id: '' } as never;
  return { name, version: 1, source, scope: 'org:acme', savedAt: 0, savedBy: by, note: '', width: 'org', ...members };
}

function rules(...instructions: readonly number[]): string {
  return `scope: org:acme\nrules: [${instructions.map((each, at) => `{name: r${at}, effect: deny, when: "${each}"}`).join()}]`;
}

function problems(stored: readonly PolicyVersion[], name: string, source: string, by = acme): readonly string[] {
  const policyRegistry = new PolicyRegistry(nowhere, features);
  policyRegistry.restore(stored);
  const candidate = parseSource({ file: name, name, text: source, author: 'org' }, features);
  expect(candidate.problems).toEqual([]);
  return tenantProblems({ policyRegistry }, by, candidate, bounds).map(({ message }) => message);
}

describe('what credentials of one org store together', () => {
  test('is bounded in documents', () => {
    const two = [saved('acme/a', rules(1)), saved('acme/core/b', rules(1), { width: 'team' })];
    expect(problems(two, 'acme/c', rules(1))).toEqual([]);
    expect(problems([...two, saved('acme/c', rules(1))], 'acme/d', rules(1))).toEqual([
      'credentials of the org "acme" store at most 3 documents; delete some, or put rules together',
    ]);
    expect(problems([...two, saved('acme/c', null)], 'acme/d', rules(1))).toEqual([]);
    expect(problems([...two, saved('acme/c', rules(1))], 'acme/c', rules(2))).toEqual([]);
  });

  test('is bounded in characters', () => {
    const long = `${rules(1)}\n#${'x'.repeat(200)}`;
    expect(problems([], 'acme/a', long)).toEqual([]);
    expect(problems([saved('acme/a', long)], 'acme/b', long)).toEqual([
      expect.stringContaining('store at most 300 characters in their documents'),
    ]);
  });

  test('is bounded in the instructions of patterns', () => {
    expect(problems([saved('acme/a', rules(20, 20))], 'acme/b', rules(10))).toEqual([]);
    expect(problems([saved('acme/a', rules(20, 21))], 'acme/b', rules(10))).toEqual([
      expect.stringContaining('store at most 50 instructions of patterns in their documents'),
    ]);
  });

  test('counts nothing of others, and nothing that the operator has written', () => {
    const others = [
      saved('globex/a', rules(60), { scope: 'org:globex' }),
      saved('acme/a', rules(60), { width: 'unbound' }),
      saved('b', rules(60), { width: 'unbound' }),
    ];
    expect(problems(others, 'acme/c', rules(50))).toEqual([]);
    expect(problems([saved('acme/a', rules(50))], 'acme/b', rules(50), operator)).toEqual([]);
  });

  test('may become less where it is more already', () => {
    const much = [saved('acme/a', rules(60)), saved('acme/b', rules(40))];
    expect(problems(much, 'acme/b', rules(39))).toEqual([]);
    expect(problems(much, 'acme/b', rules(40))).toEqual([]);
    expect(problems(much, 'acme/b', rules(41))).toHaveLength(1);
  });
});

describe('the patterns of one source', () => {
  const most = 100_000;

  test('are counted together, each text once', () => {
    expect(parseSource({ file: 'a', text: rules(7, 8, 8) }, features).instructions).toBe(15);
  });

  test('become so many instructions at most, and the place is told', () => {
    expect(parseSource({ file: 'a', text: rules(most) }, features).problems).toEqual([]);
    const text = `rules:\n- {effect: deny, when: "${most}"}\n- {effect: deny, when: "1"}\n`;
    expect(parseSource({ file: 'a', text }, features).problems).toEqual([
      expect.objectContaining({ line: 3, message: expect.stringContaining('at most 100000 instructions together') }),
    ]);
  });

  test('that were accepted before are read', () => {
    const parsed = parseSource({ file: 'a', text: rules(most, 1) }, acceptedBefore(features));
    expect([parsed.problems, parsed.instructions]).toEqual([[], most + 1]);
  });

  test('of a tenant may be those of several sources', () => {
    expect(tenantBounds.instructions).toBeGreaterThan(most);
  });
});
