import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Action, ActionType } from '../decision/action.ts';
import { action, actionTypes } from '../decision/action.ts';
import { agentId } from '../testkit/requests.ts';
import type { TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { describeProblem } from './document.ts';
import { loadPolicies } from './load-policies.ts';

/** Runs the cases of packages/core/cases, which are written for everyone to read. */

interface Case {
  readonly case: string;
  readonly agent: string;
  readonly action: Readonly<Record<string, unknown>>;
  readonly decision: string;
  readonly rule: string;
  readonly reason: string;
}

interface Group {
  readonly about: string;
  readonly policies: Readonly<Record<string, string>>;
  readonly cases?: readonly Case[];
  readonly problems?: readonly string[];
}

const folder = new URL('../../cases/', import.meta.url);
const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

function groupsOf(file: string): Group[] {
  return parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    const group = document.toJS() as Group;
    expectMembers(group, ['about', 'policies'], ['cases', 'problems']);
    for (const one of group.cases ?? [])
      expectMembers(one, ['case', 'agent', 'action', 'decision', 'rule', 'reason'], []);
    return group;
  });
}

/** A member that is misspelled would be a case that proves nothing. */
function expectMembers(value: object, needed: readonly string[], optional: readonly string[]): void {
  expect(Object.keys(value)).toEqual(expect.arrayContaining([...needed]));
  expect([...needed, ...optional]).toEqual(expect.arrayContaining(Object.keys(value)));
}

/** The members of an action as they are called on the wire. */
const members: Readonly<Record<string, keyof Action>> = {
  tool: 'tool',
  target_url: 'url',
  model: 'model',
  operation: 'operation',
  path: 'path',
  host: 'host',
  port: 'port',
  command: 'command',
  args: 'commandArgs',
};

function actionOf({ type, ...given }: Case['action']): Action {
  expect(actionTypes).toContain(type);
  const known = Object.entries(given).map(([name, value]) => {
    expect(Object.keys(members)).toContain(name);
    return [members[name], value];
  });
  return action(type as ActionType, Object.fromEntries(known) as Partial<Action>);
}

async function load(test: TestGovernance, group: Group): Promise<string[]> {
  const sources = Object.entries(group.policies).map(([file, text]) => ({ file, text }));
  if (sources.length === 0) return [];
  return (await test.settle(loadPolicies(test.gov, sources, {}))).map(describeProblem);
}

test('there are cases', () => {
  expect(files).toEqual(
    expect.arrayContaining([
      'defaults.yaml',
      'globs.yaml',
      'matchers.yaml',
      'mistakes.yaml',
      'precedence.yaml',
      'scopes.yaml',
    ]),
  );
});

describe.each(files)('%s', (file) => {
  describe.each(groupsOf(file).map((group) => [group.about, group] as const))('%s', (_, group) => {
    if (group.problems !== undefined) {
      test('the mistakes are told, and nothing comes in force', async () => {
        const test = await testGovernance();
        expect(await load(test, group)).toEqual(group.problems);
        expect(test.gov.policies.documents).toEqual([]);
      });
    }
    test.each((group.cases ?? []).map((one) => [one.case, one] as const))('%s', async (__, one) => {
      const test = await testGovernance();
      expect(await load(test, group)).toEqual([]);
      const agent = await test.register(agentId(one.agent));
      const answer = await test.check(agent, { action: actionOf(one.action) });
      expect({ decision: answer.decision, rule: answer.policyRule, reason: answer.reason }).toEqual({
        decision: one.decision,
        rule: one.rule,
        reason: one.reason,
      });
    });
    test('it has cases or problems to show', () => {
      expect((group.cases ?? []).length + (group.problems ?? []).length).toBeGreaterThan(0);
    });
  });
});
