import * as fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { eventsFor } from '../events/event-filter.ts';
import { approveAction, deregisterAgent, liftSuspension, rejectAction } from '../testkit/commands.ts';
import { controlScope, resumeAgent, suspendAgent, suspendScope } from '../testkit/commands.ts';
import { control, finish, opOf, permissive, run } from '../testkit/controls.ts';
import { agentId, operator, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { heartbeat } from '../tenancy/identify.ts';
import type { ScopeSuspension, TenantScope } from '../tenancy/scope-suspensions.ts';
import { isWithin } from '../tenancy/scope-suspensions.ts';
import { listAgents, topologyStats } from '../tenancy/topology.ts';
import { listSuspensions } from './list-suspensions.ts';
import { settleSuspensions } from './settle-suspensions.ts';
import { mostSuspensionsOfOne } from './suspend-scope.ts';

const caller = (credentialId: string, members: Partial<Principal> = {}): Principal => ({
  ...operator,
  actor: { id: credentialId, kind: 'api_key', label: credentialId },
  credentialId,
  ...members,
});
const team = caller('team', { orgId: 'acme', teamId: 'search', scopes: ['write'] });
const org = caller('org', { orgId: 'acme' });
const other = caller('other', { orgId: 'umbrella' });
const agents = caller('agents', { orgId: 'acme' });

let g: TestGovernance;
let bot: TestAgent;
let ads: TestAgent;
let stranger: TestAgent;

beforeEach(async () => {
  g = await permissive();
  bot = await g.register(agentId('acme/search/bot'), {}, agents);
  ads = await g.register(agentId('acme/ads/bot'));
  stranger = await g.register(agentId('umbrella/search/bot'));
});

const suspend = (scope: Partial<Parameters<typeof suspendScope>[2]>, by = operator, on = g) =>
  finish(on, suspendScope(on.gov, by, scope));
const lift = ({ id }: { readonly id: string }, by = operator, on = g) => finish(on, liftSuspension(on.gov, by, id));
const refused = (code: string) => expect.objectContaining({ code });
const everybody = () => [bot, ads, stranger];

async function asked(on: TestGovernance, agent: TestAgent): Promise<string> {
  const { decision, reason, policyRule } = await on.check(agent);
  return decision === 'allow' ? 'allow' : `${decision}: ${reason} (${policyRule})`;
}

const answers = async (on = g) => [await asked(on, bot), await asked(on, ads), await asked(on, stranger)];

describe('a suspension of a scope', () => {
  const held = (what: string) => `deny: ${what} is suspended: an incident (control)`;

  test.each<[string, { orgId?: string; teamId?: string }, readonly string[]]>([
    ['a team', { orgId: 'acme', teamId: 'search' }, [held('team'), 'allow', 'allow']],
    ['an org', { orgId: 'acme' }, [held('org'), held('org'), 'allow']],
    ['everything', {}, [held('everything'), held('everything'), held('everything')]],
  ])('of %s denies every check in it, over restarts, until it is lifted', async (_, scope, expected) => {
    const { id } = await suspend(scope);
    expect(await answers()).toEqual(expected);
    const again = await g.crash();
    expect(await answers(again)).toEqual(expected);
    await lift({ id }, operator, again);
    expect(await answers(again)).toEqual(['allow', 'allow', 'allow']);
    expect(await answers(await again.crash())).toEqual(['allow', 'allow', 'allow']);
  });

  test('covers agents that register later; their heartbeats, lists and counts say so', async () => {
    await suspend({ orgId: 'acme', teamId: 'ads' });
    const late = await g.register(agentId('acme/ads/late'));
    expect(await asked(g, late)).toBe(held('team'));
    expect(heartbeat(g.gov, late.id, late.token)).toMatchObject({ suspended: true });
    expect(heartbeat(g.gov, bot.id, bot.token)).toMatchObject({ suspended: false });
    expect(topologyStats(g.gov, operator, {})).toMatchObject({ agents: 4, suspended: 2 });
    expect(topologyStats(g.gov, operator, { orgId: 'acme', teamId: 'ads' })).toMatchObject({ suspended: 2 });
    const list = listAgents(g.gov, operator, { status: 'suspended' }, { limit: 10 });
    expect(list).toMatchObject({ total: 2, agents: [{ key: 'acme/ads/bot' }, { key: 'acme/ads/late' }] });
    await suspend({ orgId: 'acme' });
    expect(topologyStats(g.gov, operator, {})).toMatchObject({ suspended: 3 });
    await finish(g, suspendAgent(g.gov, operator, bot.id, ''));
    expect(topologyStats(g.gov, operator, {})).toMatchObject({ suspended: 3 });
  });

  test('pauses what runs, with receipts, and lifting it resumes that', async () => {
    await run(g, bot, 'a', 'b', 'c');
    await run(g, stranger, 'x');
    await control(g, bot, 'b:s', 'pause');
    await g.complete(bot, 'c:s');
    const suspension = await suspend({ orgId: 'acme' });
    expect(suspension).toMatchObject({ action: 'pause', operations: { matched: 2, changed: 1, skipped: 1 } });
    expect(opOf(g, bot, 'a:s')).toMatchObject({ state: 'paused', control: { cause: 'suspension' } });
    expect(opOf(g, bot, 'a:s').control?.bulkId).toBe(suspension.operations.controlId);
    expect(opOf(g, stranger, 'x:s').state).toBe('running');
    await lift(suspension);
    expect(opOf(g, bot, 'a:s').state).toBe('running');
    expect(opOf(g, bot, 'b:s').state).toBe('paused');
  });

  test('terminates what runs and what is paused, if asked to, and leaves what waits for approval', async () => {
    await g.policies('default: allow\nrules:\n  - {name: ask, effect: require_approval, tools: [ask]}');
    await run(g, bot, 'a', 'b');
    await control(g, bot, 'b:s', 'pause');
    const waiting = await g.check(bot, { traceId: 'w', spanId: 's', action: useTool('ask') });
    const suspension = await suspend({ orgId: 'acme', action: 'terminate' });
    expect(suspension.operations).toMatchObject({ matched: 3, changed: 2, skipped: 1 });
    const states = ['a:s', 'b:s', 'w:s'].map((opId) => opOf(g, bot, opId).state);
    expect(states).toEqual(['terminated', 'terminated', 'pending']);
    const verdict = { reason: '', grant: null };
    const approving = finish(g, approveAction(g.gov, operator, waiting.approvalId, verdict));
    await expect(approving).rejects.toEqual(refused('suspended'));
    expect(opOf(g, bot, 'w:s').state).toBe('pending');
    await finish(g, rejectAction(g.gov, operator, waiting.approvalId, ''));
    expect(opOf(g, bot, 'w:s').state).toBe('terminated');
  });

  test('lets what waits for approval be approved once it is lifted', async () => {
    await g.policies('default: deny\nrules:\n  - {name: ask, effect: require_approval}');
    const waiting = await g.check(bot, { traceId: 'w', spanId: 's' });
    const suspension = await suspend({ orgId: 'acme' });
    expect(await g.check(bot, { traceId: 'w', spanId: 's' })).toMatchObject({ decision: 'pending' });
    await lift(suspension);
    await finish(g, approveAction(g.gov, operator, waiting.approvalId, { reason: '', grant: null }));
    expect(opOf(g, bot, 'w:s').state).toBe('running');
  });

  test('is a record of its own: the scope is free when none is left', async () => {
    await run(g, bot, 'a');
    const first = await suspend({ orgId: 'acme' });
    const second = await suspend({ orgId: 'acme' });
    const wide = await suspend({});
    await lift(first);
    await lift(wide);
    expect([await asked(g, bot), opOf(g, bot, 'a:s').state]).toEqual([held('org'), 'paused']);
    await lift(second);
    expect([await asked(g, bot), opOf(g, bot, 'a:s').state]).toEqual(['allow', 'running']);
    await expect(lift(second)).rejects.toEqual(refused('suspension_not_found'));
  });

  test('lets resuming an operation, a run or an agent in it take effect once it is lifted', async () => {
    for (const runId of ['', 'r']) await g.check(bot, { traceId: `p${runId}`, spanId: 's', runId });
    await run(g, ads, 'own');
    await control(g, bot, 'p:s', 'pause');
    const scope = { runId: 'r' };
    const bulk = { scope, reason: '', dryRun: false, idempotencyKey: null };
    await finish(g, controlScope(g.gov, operator, { ...bulk, action: 'pause' }));
    await finish(g, suspendAgent(g.gov, operator, ads.id, ''));
    const suspension = await suspend({ orgId: 'acme' });
    expect((await control(g, bot, 'p:s', 'resume')).control).toBeNull();
    const resumed = await finish(g, controlScope(g.gov, operator, { ...bulk, action: 'resume' }));
    expect(resumed).toMatchObject({ matched: 1, changed: 0, skipped: 1 });
    await finish(g, resumeAgent(g.gov, operator, ads.id, ''));
    const all = (on: TestGovernance) => [opOf(on, bot, 'p:s'), opOf(on, bot, 'pr:s'), opOf(on, ads, 'own:s')];
    expect(all(g).map(({ state }) => state)).toEqual(['paused', 'paused', 'paused']);
    const again = await g.crash();
    expect(all(again).map(({ state }) => state)).toEqual(['paused', 'paused', 'paused']);
    await lift(suspension, operator, again);
    expect(all(again).map(({ state }) => state)).toEqual(['running', 'running', 'running']);
  });

  test('resumes nothing that something else holds: an agent’s suspension, or a later pause', async () => {
    await run(g, bot, 'a');
    await run(g, ads, 'b');
    const suspension = await suspend({ orgId: 'acme' });
    await control(g, bot, 'a:s', 'pause', '', team);
    await finish(g, suspendAgent(g.gov, operator, ads.id, ''));
    await lift(suspension);
    expect([opOf(g, bot, 'a:s').state, opOf(g, ads, 'b:s').state]).toEqual(['paused', 'paused']);
    await control(g, bot, 'a:s', 'resume', '', team);
    await finish(g, resumeAgent(g.gov, operator, ads.id, ''));
    expect([opOf(g, bot, 'a:s').state, opOf(g, ads, 'b:s').state]).toEqual(['running', 'running']);
  });

  test('is on record, and everybody whom it holds hears of it', async () => {
    const suspension = await suspend({});
    await lift(suspension);
    const types = (await g.audit()).map(({ event_type: type }) => type);
    expect(types.filter((type) => type.startsWith('Scope'))).toEqual(['ScopeSuspended', 'ScopeResumed']);
    const told = g.events.filter(({ type }) => type === 'suspension');
    expect(told).toHaveLength(2);
    for (const by of [operator, org, team]) expect(told.filter(eventsFor(by, {}))).toHaveLength(2);
    await suspend({ orgId: 'acme', teamId: 'ads' });
    const last = g.events.filter(({ type }) => type === 'suspension').slice(2);
    const hears = (by: Principal) => last.filter(eventsFor(by, {})).length;
    expect([operator, org, team, other].map(hears)).toEqual([1, 1, 0, 0]);
  });
});

describe('the authority over a suspension', () => {
  test('needs what a control of the scope needs, and lies within the binding', async () => {
    const reaching = async (scope: Parameters<typeof suspend>[0], by: Principal) =>
      await suspend(scope, by).then(
        () => 'done',
        (error: { code?: string }) => error.code,
      );
    const writer = caller('writer', { orgId: 'acme', scopes: ['write'] });
    expect(await reaching({ orgId: 'acme' }, writer)).toBe('insufficient_scope');
    expect(await reaching({ orgId: 'acme', teamId: 'search' }, writer)).toBe('done');
    expect(await reaching({}, org)).toBe('tenant_bound');
    expect(await reaching({ orgId: 'umbrella' }, org)).toBe('scope_not_found');
    expect(await reaching({ orgId: 'acme' }, caller('t', { orgId: 'acme', teamId: 'search' }))).toBe('tenant_bound');
    expect(await reaching({ orgId: 'acme', teamId: 'ads' }, team)).toBe('scope_not_found');
    expect(await reaching({ teamId: 'search' }, operator)).toBe('invalid_argument');
    expect(await reaching({ orgId: 'nobody' }, operator)).toBe('scope_not_found');
    expect(await reaching({ orgId: 'acme', teamId: 'nobody' }, operator)).toBe('scope_not_found');
    const empty = await permissive();
    expect(await suspend({}, operator, empty)).toMatchObject({ orgId: null, operations: { matched: 0 } });
  });

  test('lifts what a credential as wide or narrower imposed, and nothing else', async () => {
    const byOperator = await suspend({ orgId: 'acme', teamId: 'search' });
    const byOrg = await suspend({ orgId: 'acme', teamId: 'search' }, org);
    const byTeam = await suspend({ orgId: 'acme', teamId: 'search' }, team);
    for (const by of [org, team]) await expect(lift(byOperator, by)).rejects.toEqual(refused('imposed_by_wider'));
    await expect(lift(byOrg, team)).rejects.toEqual(refused('imposed_by_wider'));
    await expect(lift(byOrg, other)).rejects.toEqual(refused('suspension_not_found'));
    await lift(byTeam, org);
    await lift(byOrg, org);
    expect(await asked(g, bot)).toContain('deny');
    await lift(byOperator);
    expect(await asked(g, bot)).toBe('allow');
  });

  test('is not with those who registered an agent in it, except over what they imposed themselves', async () => {
    const byOrg = await suspend({ orgId: 'acme' }, org);
    const byThem = await suspend({ orgId: 'acme' }, agents);
    await expect(lift(byOrg, agents)).rejects.toEqual(refused('own_agent'));
    await lift(byThem, agents);
    // Leaving makes nobody a stranger, not even over a restart.
    await finish(g, deregisterAgent(g.gov, { agentId: bot.id, token: bot.token, reason: '' }));
    await expect(lift(byOrg, agents)).rejects.toEqual(refused('own_agent'));
    const again = await g.crash();
    await expect(lift(byOrg, agents, again)).rejects.toEqual(refused('own_agent'));
    await lift(byOrg, org, again);
  });

  test('lists what concerns the caller, and tells a tenant nothing of others', async () => {
    await suspend({});
    g.clock.advance(1);
    await suspend({ orgId: 'acme', teamId: 'ads' });
    const seen = (by: Principal, filter = {}) =>
      listSuspensions(g.gov, by, filter, { limit: 10 }).suspensions.map(({ teamId }) => teamId);
    expect(seen(operator)).toEqual(['ads', null]);
    expect(seen(operator, { orgId: 'umbrella' })).toEqual([null]);
    expect(seen(org)).toEqual(['ads', null]);
    expect(seen(team)).toEqual([null]);
    expect(seen(other)).toEqual([null]);
    const { next } = listSuspensions(g.gov, operator, {}, { limit: 1 });
    expect(listSuspensions(g.gov, operator, {}, { limit: 1, before: next ?? undefined }).suspensions).toHaveLength(1);
  });

  test('holds a bounded number, and leaves room for others', async () => {
    for (let i = 0; i < mostSuspensionsOfOne; i++) await suspend({ orgId: 'acme' }, org);
    await expect(suspend({ orgId: 'acme' }, org)).rejects.toEqual(refused('too_many_suspensions'));
    await suspend({ orgId: 'acme' }, caller('second', { orgId: 'acme' }));
    await suspend({ orgId: 'acme' });
  });
});

describe('a suspension that is cut short', () => {
  test('is finished later, whether it was imposed or lifted', async () => {
    const names = Array.from({ length: 30 }, (_, i) => `n${i}`);
    await run(g, bot, ...names);
    const states = (on: TestGovernance) => new Set(names.map((name) => opOf(on, bot, `${name}:s`).state));
    // Only its first turns become durable before the process ends.
    void suspendScope(g.gov, operator, { orgId: 'acme' }).catch(() => undefined);
    for (let i = 0; i < 2; i++) await cut(g);
    let again = await g.crash();
    expect(await asked(again, bot)).toContain('org is suspended');
    expect(states(again)).toContain('running');
    again.clock.advance(60_000);
    await finish(again, settleSuspensions(again.gov));
    expect(states(again)).toEqual(new Set(['paused']));

    const [suspension] = again.gov.directory.suspensions.inForce();
    if (suspension === undefined) throw new Error('it is in force');
    void liftSuspension(again.gov, operator, suspension.id).catch(() => undefined);
    for (let i = 0; i < 2; i++) await cut(again);
    again = await again.crash();
    expect(await asked(again, bot)).toBe('allow');
    expect(states(again)).toContain('paused');
    again.clock.advance(60_000);
    await finish(again, settleSuspensions(again.gov));
    expect(states(again)).toEqual(new Set(['running']));
    expect([...again.gov.directory.suspensions.all()]).toEqual([]);
  });
});

test('one that cannot be settled keeps none after it from being settled, and is told', async () => {
  await run(g, bot, 'a');
  const unsettled = async (id: string) => {
    const made = await suspend({ orgId: 'acme', teamId: id === 'bad' ? 'ads' : 'search' });
    g.gov.directory.suspensions.remove(made.id);
    return { ...made, id, isSettled: false };
  };
  const [bad, good] = [await unsettled('bad'), await unsettled('good')];
  g.gov.directory.suspensions.put({ ...bad, imposedBy: null as unknown as typeof bad.imposedBy });
  g.gov.directory.suspensions.put(good);
  g.clock.advance(60_000);
  await expect(finish(g, settleSuspensions(g.gov))).rejects.toThrow('1 of 2 suspensions');
  expect(g.gov.directory.suspensions.find('good')).toMatchObject({ isSettled: true });
});

/** Ends one turn, with what follows from it at once. */
async function cut(on: TestGovernance): Promise<void> {
  on.turn();
  for (let tasks = 0; tasks < 20; tasks++) await Promise.resolve();
}

describe('suspensions of all kinds together', () => {
  type Step =
    | { readonly kind: 'suspend'; readonly scope: 0 | 1 | 2 | 3 }
    | { readonly kind: 'lift'; readonly which: number }
    | { readonly kind: 'agent' | 'pause' | 'check'; readonly agent: 0 | 1 | 2 }
    | { readonly kind: 'crash' };
  const scopes: readonly TenantScope[] = [
    { orgId: null, teamId: null },
    { orgId: 'acme', teamId: null },
    { orgId: 'acme', teamId: 'search' },
    { orgId: 'umbrella', teamId: 'search' },
  ];
  const steps: fc.Arbitrary<Step> = fc.oneof(
    fc.record({ kind: fc.constant('suspend'), scope: fc.constantFrom(0, 1, 2, 3) }),
    fc.record({ kind: fc.constant('lift'), which: fc.nat(5) }),
    fc.record({ kind: fc.constantFrom('agent', 'pause', 'check'), agent: fc.constantFrom(0, 1, 2) }),
    fc.record({ kind: fc.constant('crash') }),
  );

  /** Does what a step says, here and in the model. */
  class Scene {
    on: TestGovernance;
    readonly inForce: ScopeSuspension[] = [];
    readonly suspended = new Set<TestAgent>();
    readonly paused = new Set<TestAgent>();
    readonly agents: readonly TestAgent[];

    constructor(on: TestGovernance, among: readonly TestAgent[]) {
      this.on = on;
      this.agents = among;
    }

    isHeld({ id }: TestAgent): boolean {
      return this.inForce.some((each) => isWithin(each, id));
    }

    async take(step: Step): Promise<void> {
      if (step.kind === 'crash') this.on = await this.on.crash();
      else if (step.kind === 'suspend') {
        const { orgId, teamId } = scopes[step.scope] ?? { orgId: null, teamId: null };
        const scope = { orgId: orgId ?? undefined, teamId: teamId ?? undefined };
        this.inForce.push(await suspend(scope, operator, this.on));
      } else if (step.kind === 'lift') {
        const [gone] = this.inForce.splice(step.which, 1);
        if (gone !== undefined) await lift(gone, operator, this.on);
      } else await this.#ofAgent(step.kind, this.agents[step.agent] ?? bot);
    }

    async #ofAgent(kind: 'agent' | 'pause' | 'check', agent: TestAgent): Promise<void> {
      const { gov } = this.on;
      if (kind === 'agent') {
        const act = this.suspended.delete(agent) ? resumeAgent : suspendAgent;
        if (act === suspendAgent) this.suspended.add(agent);
        await finish(this.on, act(gov, operator, agent.id, ''));
      } else if (kind === 'pause' && !this.suspended.has(agent)) {
        const action = this.paused.delete(agent) ? 'resume' : 'pause';
        if (action === 'pause') this.paused.add(agent);
        await control(this.on, agent, 'op:s', action);
      }
    }

    async verify(): Promise<void> {
      for (const agent of this.agents) {
        const isStopped = this.isHeld(agent) || this.suspended.has(agent);
        const expected = isStopped || this.paused.has(agent) ? 'paused' : 'running';
        expect(opOf(this.on, agent, 'op:s').state).toBe(expected);
        expect((await this.on.check(agent)).decision).toBe(isStopped ? 'deny' : 'allow');
      }
    }
  }

  test('hold an agent as long as any of them does, whatever happens in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 14 }), async (taken) => {
        const on = await testGovernance();
        await on.policies('default: allow');
        const registered: TestAgent[] = [];
        for (const { id } of everybody()) registered.push(await on.register(id));
        for (const agent of registered) await run(on, agent, 'op');
        const scene = new Scene(on, registered);
        for (const step of taken) {
          await scene.take(step);
          await scene.verify();
        }
      }),
      { numRuns: 60 },
    );
  });
});
