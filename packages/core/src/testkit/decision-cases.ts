import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import type { Action, ActionType } from '../action/action.ts';
import { action, actionTypes } from '../action/action.ts';
import type { Answer } from '../decision/answer.ts';
import { describeProblem } from '../policy/document.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import type { PolicyFeatures } from '../policy/condition.ts';
import { plainIssuer } from './plain-issuer.ts';
import { agentId } from './requests.ts';
import type { TestAgent, TestGovernance } from './test-governance.ts';
import { testGovernance } from './test-governance.ts';

/** Runs the cases of packages/core/cases, which everyone can read. Their README says what they hold. */

interface Asked {
  readonly agent: string;
  readonly action: Readonly<Record<string, unknown>>;
  readonly arguments?: unknown;
  readonly cost_micros?: number;
  readonly run?: string;
  readonly at?: string;
  readonly user?: {
    readonly sub?: string;
    readonly email?: string;
    readonly groups?: readonly string[];
    readonly claims?: Readonly<Record<string, unknown>>;
  };
}

/** A request from before the case, and its outcome. */
interface Earlier extends Asked {
  readonly times?: number;
  /** The final cost. Without it, the action goes on. */
  readonly settled_micros?: number;
  readonly decision?: string;
}

interface Case extends Asked {
  readonly case: string;
  readonly registered?: {
    readonly name?: string;
    readonly framework?: string;
    readonly metadata?: Readonly<Record<string, string>>;
    readonly parent?: string;
  };
  readonly before?: readonly Earlier[];
  readonly decision: string;
  readonly rule: string;
  readonly reason?: string;
  readonly limit?: Readonly<Record<string, unknown>>;
  readonly observed?: readonly object[];
  readonly reserved_micros?: number;
  readonly audited?: string;
  /** The terms on which people are asked. */
  readonly approvals?: {
    readonly rules?: readonly string[];
    readonly count?: number;
    readonly ttl_secs?: number;
    readonly grants?: boolean;
  };
}

interface Group {
  readonly about: string;
  readonly policies: Readonly<Record<string, string>>;
  readonly cases?: readonly Case[];
  readonly problems?: readonly string[];
}

const folder = new URL('../../cases/', import.meta.url);

export const caseFiles: readonly string[] = readdirSync(folder).filter((name) => name.endsWith('.yaml'));

const askedMembers = ['arguments', 'cost_micros', 'run', 'at', 'user'];
const checkedMembers = [
  'registered',
  'before',
  'reason',
  'limit',
  'observed',
  'reserved_micros',
  'audited',
  'approvals',
];

function groupsOf(file: string): Group[] {
  return parseAllDocuments(readFileSync(new URL(file, folder), 'utf8')).map((document) => {
    expect(document.errors).toEqual([]);
    const group = document.toJS() as Group;
    expectMembers(group, ['about', 'policies'], ['cases', 'problems']);
    for (const one of group.cases ?? []) {
      expectMembers(one, ['case', 'agent', 'action', 'decision', 'rule'], [...askedMembers, ...checkedMembers]);
      expectMembers(one.registered ?? {}, [], ['name', 'framework', 'metadata', 'parent']);
      for (const earlier of one.before ?? []) {
        expectMembers(earlier, ['agent', 'action'], [...askedMembers, 'times', 'settled_micros', 'decision']);
      }
    }
    return group;
  });
}

/** A case with a misspelled member would prove nothing. */
function expectMembers(value: object, needed: readonly string[], optional: readonly string[]): void {
  expect(Object.keys(value)).toEqual(expect.arrayContaining([...needed]));
  expect([...needed, ...optional]).toEqual(expect.arrayContaining(Object.keys(value)));
}

/** The members of an action by their names on the wire. */
const members: Readonly<Record<string, keyof Action>> = {
  tool: 'tool',
  source: 'source',
  target_url: 'url',
  model: 'model',
  prompt_tokens: 'promptTokens',
  max_output_tokens: 'maxOutputTokens',
  operation: 'operation',
  path: 'path',
  host: 'host',
  port: 'port',
  command: 'command',
  args: 'commandArgs',
};

function actionOf({ action: { type, ...given }, arguments: args }: Asked): Action {
  expect(actionTypes).toContain(type);
  const known = Object.entries(given).map(([name, value]) => {
    expect(Object.keys(members)).toContain(name);
    return [members[name], value];
  });
  const json = args === undefined ? {} : { json: JSON.stringify(args) };
  return action(type as ActionType, { ...(Object.fromEntries(known) as Partial<Action>), ...json });
}

/** A token of the issuer that every case knows. */
function tokenOf(user: Asked['user']): string {
  if (user === undefined) return '';
  const { claims = {}, ...named } = user;
  return JSON.stringify({ ...claims, sub: named.email ?? 'somebody', ...named });
}

/** A gateway with the agents that a case names. */
class Scene {
  readonly #test: TestGovernance;
  readonly #agents = new Map<string, TestAgent>();

  constructor(made: TestGovernance) {
    this.#test = made;
  }

  async register(name: string, given: NonNullable<Case['registered']> = {}): Promise<TestAgent> {
    const known = this.#agents.get(name);
    if (known !== undefined) return known;
    const { parent, ...described } = given;
    if (parent !== undefined) await this.register(parent);
    const registered = await this.#test.register(agentId(name), {
      ...described,
      ...(parent === undefined ? {} : { parent: agentId(parent) }),
    });
    this.#agents.set(name, registered);
    return registered;
  }

  async ask(asked: Asked): Promise<Answer> {
    const agent = await this.register(asked.agent);
    if (asked.at !== undefined) this.#test.clock.advance(Date.parse(asked.at) - this.#test.clock.now());
    return await this.#test.check(agent, {
      action: actionOf(asked),
      estimatedCostMicros: asked.cost_micros ?? null,
      runId: asked.run ?? '',
      subjectToken: tokenOf(asked.user),
    });
  }

  async goThrough({ times = 1, settled_micros: settled, decision = 'allow', ...asked }: Earlier): Promise<void> {
    for (let time = 0; time < times; time++) {
      const answer = await this.ask(asked);
      expect({ before: asked.action, decision: answer.decision }).toEqual({ before: asked.action, decision });
      if (settled === undefined) continue;
      const agent = await this.register(asked.agent);
      await this.#test.complete(agent, answer.opId, { actualCostMicros: settled });
    }
  }
}

async function load(made: TestGovernance, group: Group, features: PolicyFeatures): Promise<string[]> {
  const sources = Object.entries(group.policies).map(([file, text]) => ({ file, text }));
  if (sources.length === 0) return [];
  return (await made.settle(loadPolicies(made.gov, sources, features))).map(describeProblem);
}

async function run(one: Case, made: TestGovernance): Promise<void> {
  const scene = new Scene(made);
  await scene.register(one.agent, one.registered);
  for (const earlier of one.before ?? []) await scene.goThrough(earlier);
  const { seq } = made.gov.journal.head;
  const answer = await scene.ask(one);
  // A denial continues with a hint, which has tests of its own.
  const [reason] = answer.reason.split('; allowed here');
  expect({ decision: answer.decision, rule: answer.policyRule }).toEqual({ decision: one.decision, rule: one.rule });
  if (one.reason !== undefined) expect(reason).toBe(one.reason);
  const entry = (await made.audit()).find((logged) => logged.seq > seq && logged.decision !== null);
  expect(entry).toMatchObject({ decision: one.decision, policy_rule: one.rule });
  if (one.audited !== undefined) expect(entry?.event_type).toBe(one.audited);
  if (one.limit !== undefined) expect(entry?.payload['limit']).toMatchObject(one.limit);
  const isOfBudget = /^budget\/(global|org|team|agent)\./.test(one.rule) && one.decision === 'deny';
  expect(entry?.payload['limit'] !== undefined).toBe(isOfBudget);
  expect(entry?.payload['observed'] ?? []).toEqual(one.observed ?? []);
  if (one.approvals !== undefined) expect(await termsOf(made, answer.approvalId)).toMatchObject(one.approvals);
  if (one.reserved_micros !== undefined) {
    expect(made.opsOf(agentId(one.agent)).get(answer.opId)?.reservedMicros).toBe(one.reserved_micros);
  }
}

async function termsOf(made: TestGovernance, id: string): Promise<NonNullable<Case['approvals']>> {
  const approval = await made.store.approvals.approval(id);
  if (approval === undefined) throw new Error('nobody is asked');
  const { rules, required: count, expiresAt, requestedAt, isGrantable: grants } = approval;
  return { rules, count, ttl_secs: (expiresAt - requestedAt) / 1000, grants };
}

/** Turns every case of some files into a test. */
export function decisionCases(files: readonly string[], features: PolicyFeatures): void {
  describe.each(files)('%s', (file) => {
    describe.each(groupsOf(file).map((group) => [group.about, group] as const))('%s', (_, group) => {
      if (group.problems !== undefined) {
        test('the mistakes are told, and nothing comes in force', async () => {
          const made = await testGovernance({ features });
          expect(await load(made, group, features)).toEqual(group.problems);
          expect(made.gov.policies.documents).toEqual([]);
        });
      }
      test.each((group.cases ?? []).map((one) => [one.case, one] as const))('%s', async (__, one) => {
        const made = await testGovernance({ features, subjects: plainIssuer().subjects });
        expect(await load(made, group, features)).toEqual([]);
        await run(one, made);
      });
      test('it has cases or problems to show', () => {
        expect((group.cases ?? []).length + (group.problems ?? []).length).toBeGreaterThan(0);
      });
    });
  });
}
