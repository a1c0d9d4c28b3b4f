import { ingest } from '../testkit/registered-ops.ts';
import { beforeEach, describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { control, finish, listen, opOf, permissive, run } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import type { ControlScope } from './bulk-control.ts';
import type { ScopeRequest } from './control-scope.ts';
import { readControl } from './read-control.ts';
import { controlScope, registerOp } from '../testkit/commands.ts';

let g: TestGovernance;
const agents = new Map<string, TestAgent>();
const writer: Principal = { ...operator, scopes: ['write'] };

beforeEach(async () => {
  g = await permissive();
  agents.clear();
  for (const name of ['acme/search/bot', 'acme/search/two', 'acme/ops/bot', 'umbrella/search/bot', '//loose']) {
    const agent = await g.register(agentId(name));
    agents.set(name, agent);
    await g.check(agent, { traceId: 'r1', spanId: 's', runId: 'run-1' });
    await g.check(agent, { traceId: 'r2', spanId: 's', runId: 'run-2' });
  }
});

const ask = (scope: ControlScope, by = operator, members: Partial<ScopeRequest> = {}) =>
  finish(
    g,
    controlScope(g.gov, by, { action: 'pause', scope, reason: '', dryRun: false, idempotencyKey: null, ...members }),
  );

const inState = (state: string) =>
  [...g.gov.directory.all()].flatMap((agent) =>
    [...g.gov.ops.of(agent)].filter((op) => op.state === state).map((op) => `${agent.key}/${op.opId}`),
  );

describe('a scope', () => {
  test.each<[string, ControlScope, number]>([
    ['everything', { all: true }, 10],
    ['an org', { orgId: 'acme' }, 6],
    ['those without an org', { orgId: '' }, 2],
    ['a team', { orgId: 'acme', teamId: 'search' }, 4],
    ['teams of one name', { teamId: 'search' }, 6],
    ['an agent', { orgId: 'acme', teamId: 'ops', agentId: 'bot' }, 2],
    ['agents of one name', { agentId: 'bot' }, 6],
    ['a run', { runId: 'run-1' }, 5],
    ['a run of an org', { orgId: 'acme', runId: 'run-2' }, 3],
  ])('of %s is narrowed by all its members together', async (_, scope, expected) => {
    expect(await ask(scope)).toMatchObject({ matched: expected, changed: expected, skipped: 0 });
    expect(inState('paused')).toHaveLength(expected);
  });

  test.each<ControlScope>([
    { orgId: 'nobody' },
    { orgId: 'acme', teamId: 'nobody' },
    { agentId: 'nobody' },
    { orgId: 'nobody', runId: 'run-1' },
  ])('without any agent is refused, for a dry run too: %j', async (scope) => {
    await expect(ask(scope)).rejects.toMatchObject({ code: 'scope_not_found' });
    await expect(ask(scope, operator, { dryRun: true })).rejects.toMatchObject({ code: 'scope_not_found' });
    expect(inState('paused')).toEqual([]);
    expect(await ask({ runId: 'nobody' })).toMatchObject({ matched: 0 });
  });

  test.each<[string, ControlScope]>([
    ['that is empty', {}],
    ['that says all and something else', { all: true, orgId: 'acme' }],
    ['that says not all and nothing else', { all: false }],
  ])('%s is refused', async (_, scope) => {
    await expect(ask(scope)).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  test('of everything or of a whole org is for admins; any other is for those who write', async () => {
    for (const scope of [{ all: true }, { orgId: 'acme' }]) {
      await expect(ask(scope, writer)).rejects.toMatchObject({
        code: 'insufficient_scope',
        facts: { required_scope: 'admin' },
      });
      const dryRun = { dryRun: true };
      await expect(ask(scope, writer, dryRun)).rejects.toMatchObject({ code: 'insufficient_scope' });
    }
    for (const scope of [{ orgId: 'acme', teamId: 'ops' }, { teamId: 'ops' }, { runId: 'run-1' }, { agentId: 'bot' }]) {
      expect(await ask(scope, writer)).toBeDefined();
    }
    const reader: Principal = { ...operator, scopes: ['read'] };
    await expect(ask({ runId: 'run-1' }, reader)).rejects.toMatchObject({ code: 'insufficient_scope' });
  });

  test('of a bound admin is its own org, and team, whatever it asks for', async () => {
    const ofTeam: Principal = { ...operator, orgId: 'acme', teamId: 'ops' };
    await expect(ask({ orgId: 'umbrella' }, ofTeam)).rejects.toMatchObject({ code: 'scope_not_found' });
    expect(await ask({ all: true }, ofTeam)).toMatchObject({ matched: 2 });
    const ofOrg: Principal = { ...operator, orgId: 'acme' };
    const elsewhere = ask({ orgId: 'umbrella', teamId: 'search' }, ofOrg);
    await expect(elsewhere).rejects.toMatchObject({ code: 'scope_not_found' });
    // The org takes over what its team has paused.
    expect(await ask({ all: true }, ofOrg)).toMatchObject({ matched: 6, changed: 6, skipped: 0 });
    expect(inState('paused').every((id) => id.startsWith('acme/'))).toBe(true);
  });
});

describe('a scoped control', () => {
  test('counts what is in flight, moves what allows it, and skips the rest without a trace', async () => {
    const bot = agents.get('acme/search/bot');
    if (bot === undefined) throw new Error('it is registered');
    await run(g, bot, 'p', 'c', 'x');
    await control(g, bot, 'p:s', 'pause');
    await g.complete(bot, 'c:s');
    await control(g, bot, 'x:s', 'terminate');
    const pending = { agent: bot.id, traceId: 'w', spanId: 's', summary: '' };
    await finish(g, registerOp(g.gov, operator, pending));
    const scope = { orgId: 'acme', teamId: 'search', agentId: 'bot' };
    const paused = await ask(scope);
    expect(paused).toMatchObject({ matched: 4, changed: 2, skipped: 2 });
    expect(opOf(g, bot, 'w:s')).toMatchObject({ state: 'pending', control: null });
    expect(opOf(g, bot, 'p:s').control?.bulkId).toBeNull();
    expect(await ask(scope, operator, { action: 'resume' })).toMatchObject({ matched: 4, changed: 3, skipped: 1 });
    expect(await ask(scope, operator, { action: 'terminate' })).toMatchObject({ matched: 4, changed: 4, skipped: 0 });
    expect(await ask(scope, operator, { action: 'terminate' })).toMatchObject({ matched: 0 });
    expect(opOf(g, bot, 'c:s').state).toBe('completing');
  });

  test('is one OpControlRequested for the whole, and one OpStateChanged and one event for each', async () => {
    const before = (await g.audit()).length;
    const published = g.events.length;
    const by = { ...operator, requestId: 'r1' };
    const { controlId } = await ask({ orgId: 'acme', runId: 'run-1' }, by, { reason: 'fire drill' });
    const [held, first, ...rest] = (await g.audit()).slice(before);
    expect(held).toMatchObject({ event_type: 'RunHeld', payload: { control_id: controlId } });
    expect(first).toMatchObject({
      event_type: 'OpControlRequested',
      actor: operator.actor,
      op_id: null,
      reason: 'fire drill',
      lineage: { org_id: 'acme' },
      payload: {
        action: 'pause',
        control_id: controlId,
        request_id: 'r1',
        scope: { org_id: 'acme', run_id: 'run-1' },
        matched: 3,
        changed: 3,
        skipped: 0,
      },
    });
    expect(rest.map((entry) => [entry.event_type, entry.payload['control_id']])).toEqual(
      [1, 2, 3].map((part) => ['OpStateChanged', `${controlId}_000000${part}`]),
    );
    expect(g.events.slice(published).map((event) => event.type)).toEqual(['ops_change', 'ops_change', 'ops_change']);
  });

  test('that is only asked about answers the same counts, and changes and records nothing', async () => {
    const before = (await g.audit()).length;
    const asked = await ask({ all: true }, operator, { dryRun: true, idempotencyKey: 'k' });
    expect(asked).toEqual({ matched: 10, changed: 10, skipped: 0, controlId: null });
    expect(await g.audit()).toHaveLength(before);
    expect(inState('paused')).toEqual([]);
    expect(await ask({ all: true }, operator, { idempotencyKey: 'k' })).toMatchObject({ changed: 10 });
  });

  test('reaches each agent in its own order', async () => {
    const listeners = await Promise.all([...agents.values()].map((agent) => listen(g, agent)));
    await ask({ all: true });
    for (const listener of listeners) expect(listener.signals()).toEqual(['1 pause', '2 pause']);
  });

  test('of many goes a few at a time; what comes meanwhile is not touched, what has ended is skipped', async () => {
    const bot = agents.get('umbrella/search/bot');
    if (bot === undefined) throw new Error('it is registered');
    const names = Array.from({ length: 1000 }, (_, index) => `n${index}`);
    for (const name of names) await run(g, bot, name);
    const commits = g.commits.length;
    const asking = controlScope(g.gov, operator, {
      action: 'terminate',
      scope: { orgId: 'umbrella' },
      reason: '',
      dryRun: false,
      idempotencyKey: null,
    });
    g.turn();
    await Promise.resolve();
    expect(inState('terminated').length).toBeLessThan(50);
    await run(g, bot, 'late');
    await g.complete(bot, 'n999:s');
    const { control: ownReceipt } = await control(g, bot, 'n998:s', 'terminate');
    expect(await finish(g, asking)).toMatchObject({ matched: 1002, changed: 1000, skipped: 2 });
    expect(opOf(g, bot, 'n998:s').control?.id).toBe(ownReceipt?.id);
    expect(opOf(g, bot, 'late:s').state).toBe('running');
    const steps = g.commits.slice(commits).map((batch) => batch.entries.length);
    expect(Math.max(...steps)).toBeLessThan(20);
    expect(g.gov.control.outbox(bot.id).size).toBe(1001);
  });

  test('of many whose store fails half-way is taken back where it was not durable; the rest is done, and told', async () => {
    const bot = agents.get('umbrella/search/bot');
    if (bot === undefined) throw new Error('it is registered');
    for (let index = 0; index < 100; index++) await run(g, bot, `n${index}`);
    const listener = await listen(g, bot);
    const request = { action: 'terminate', scope: { orgId: 'umbrella' }, reason: '', dryRun: false } as const;
    const asking = controlScope(g.gov, operator, { ...request, idempotencyKey: null });
    const outcome = asking.catch((error: unknown) => error);
    const turn = async () => {
      g.turn();
      for (let task = 0; task < 20; task++) await Promise.resolve();
    };
    await turn();
    g.failure = new Error('full');
    await turn();
    g.failure = undefined;
    expect(await finish(g, outcome)).toMatchObject({ code: 'store_unavailable' });
    const terminated = inState('terminated').length;
    expect(terminated).toBeGreaterThan(8);
    expect(terminated).toBeLessThan(102);
    expect(listener.heard).toHaveLength(terminated);
    const rest = await finish(g, controlScope(g.gov, operator, { ...request, idempotencyKey: null }));
    expect(rest.changed).toBe(102 - terminated);
  });

  test('looks at very many over some turns, and what comes meanwhile is not counted', async () => {
    const bot = agents.get('umbrella/search/bot');
    if (bot === undefined) throw new Error('it is registered');
    for (let index = 0; index < 11_000; index++) ingest(g.gov, g.known(bot.id), `n${index}:s`);
    const request = { action: 'terminate', scope: { orgId: 'umbrella' }, reason: '', dryRun: true } as const;
    const asking = controlScope(g.gov, operator, { ...request, idempotencyKey: null });
    await run(g, bot, 'late');
    expect(await finish(g, asking)).toMatchObject({ matched: 11_002 });
  });

  test('that the store does not take is taken back as far as it was not durable, and can be asked for again', async () => {
    g.failure = new Error('full');
    const key = { idempotencyKey: 'k' };
    await expect(ask({ all: true }, operator, key)).rejects.toMatchObject({ code: 'store_unavailable' });
    g.failure = undefined;
    expect(inState('paused')).toEqual([]);
    expect(await ask({ all: true }, operator, key)).toMatchObject({ changed: 10 });
  });
});

describe('an idempotency key', () => {
  const key = { idempotencyKey: 'deploy-17' };

  test('answers the same result without acting, also while the first is under way and after a restart', async () => {
    const [one, two] = await Promise.all([
      ask({ orgId: 'acme' }, operator, key),
      ask({ orgId: 'acme' }, operator, key),
    ]);
    expect(two).toEqual(one);
    await ask({ orgId: 'acme' }, operator, { action: 'resume' });
    expect(await ask({ orgId: 'acme' }, operator, key)).toEqual(one);
    expect(inState('paused')).toEqual([]);
    g = await g.crash();
    expect(await ask({ orgId: 'acme' }, operator, key)).toEqual(one);
    expect(inState('paused')).toEqual([]);
  });

  test('is refused for another request, and is each credential’s own', async () => {
    await ask({ orgId: 'acme' }, operator, key);
    for (const other of [{ action: 'resume' }, { reason: 'other' }] as const) {
      await expect(ask({ orgId: 'acme' }, operator, { ...key, ...other })).rejects.toMatchObject({
        code: 'idempotency_conflict',
      });
    }
    await expect(ask({ orgId: 'umbrella' }, operator, key)).rejects.toMatchObject({ code: 'idempotency_conflict' });
    const another: Principal = { ...operator, credentialId: 'mnopqrstuvwx' };
    expect(await ask({ orgId: 'umbrella' }, another, key)).toMatchObject({ changed: 2 });
  });

  test('is forgotten after a day', async () => {
    await ask({ orgId: 'acme' }, operator, key);
    g.clock.advance(86_400_001);
    expect(await ask({ orgId: 'umbrella' }, operator, key)).toMatchObject({ changed: 2 });
  });

  test.each(['', 'x'.repeat(256), 'a b', 'ä', 'a\n'])(
    'is 1 to 255 visible characters, not %j',
    async (idempotencyKey) => {
      await expect(ask({ all: true }, operator, { idempotencyKey })).rejects.toMatchObject({
        code: 'invalid_argument',
      });
    },
  );
});

describe('reading a control', () => {
  test('of one operation answers its receipt; of many, the counts by status and the receipts, a page at a time', async () => {
    const bot = agents.get('acme/search/bot');
    if (bot === undefined) throw new Error('it is registered');
    await listen(g, bot);
    const { controlId } = await ask({ orgId: 'acme' }, operator, { reason: 'why' });
    g.turn();
    const report = await readControl(g.gov, operator, controlId ?? '');
    expect(report).toMatchObject({
      kind: 'bulk',
      bulk: { id: controlId, action: 'pause', reason: 'why', matched: 6, changed: 6, skipped: 0, done: true },
      counts: { requested: 4, delivered: 2, acked: 0, effective: 0, failed: 0, unconfirmed: 0 },
      next: null,
    });
    if (report.kind !== 'bulk') throw new Error('it is of many');
    expect(report.receipts).toHaveLength(6);
    const [first, second, third] = report.receipts;
    const page = await readControl(g.gov, operator, controlId ?? '', { after: first?.id, limit: 2 });
    expect(page).toMatchObject({ receipts: [second, third], next: third?.id });
    expect(await readControl(g.gov, operator, first?.id ?? '')).toEqual({ kind: 'receipt', receipt: first });
  });

  test('finds nothing of another tenant, and of one’s own only what lies wholly within', async () => {
    const of = (orgId: string, teamId: string | null = null): Principal => ({ ...operator, orgId, teamId });
    const everything = await ask({ all: true });
    const ofTeam = await ask({ orgId: 'acme', teamId: 'ops' }, operator, { action: 'resume' });
    const find = async (by: Principal, id: string | null) =>
      await readControl(g.gov, by, id ?? '').then(
        ({ kind }) => kind,
        (error: unknown) => (error as { code: string }).code,
      );
    expect(await find(of('acme'), everything.controlId)).toBe('control_not_found');
    expect(await find(of('acme'), ofTeam.controlId)).toBe('bulk');
    expect(await find(of('acme', 'ops'), ofTeam.controlId)).toBe('bulk');
    expect(await find(of('acme', 'search'), ofTeam.controlId)).toBe('control_not_found');
    expect(await find(of('umbrella'), ofTeam.controlId)).toBe('control_not_found');
    expect(await find(of('acme'), `${ofTeam.controlId}_0000001`)).toBe('receipt');
    expect(await find(of('umbrella'), `${ofTeam.controlId}_0000001`)).toBe('control_not_found');
    expect(await find(operator, 'ctl_none')).toBe('control_not_found');
    expect(await find({ ...operator, scopes: [] }, ofTeam.controlId)).toBe('insufficient_scope');
  });
});
