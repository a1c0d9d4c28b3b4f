import { describe, expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { controlScope } from '../testkit/commands.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import type { ControlScope } from './bulk-control.ts';
import { mostRunControls, mostRunControlsOfOne } from './hold-run.ts';
import { listRunControls } from './list-run-controls.ts';
import { forgetDepartures, mostDepartures, mostDeparturesOfOne } from './own-agents.ts';

const policy = 'default: allow';
const day = 86_400_000;

function keyOf(id: string, orgId: string | null, teamId: string | null = null): Principal {
  return { ...operator, actor: { ...operator.actor, id }, credentialId: id, orgId, teamId };
}
const acme = keyOf('acmekeyacmek', 'acme');
const search = keyOf('searchkeysea', 'acme', 'search');

interface World {
  readonly g: TestGovernance;
  readonly bot: TestAgent;
  readonly ads: TestAgent;
  readonly other: TestAgent;
}

async function world(g?: TestGovernance): Promise<World> {
  const made = g ?? (await testGovernance());
  await made.policies(policy);
  return {
    g: made,
    bot: await made.register(agentId('acme/search/bot')),
    ads: await made.register(agentId('acme/ads/bot')),
    other: await made.register(agentId('umbrella/search/bot')),
  };
}

/** Ends turns until the control is through: it takes several. */
async function control(
  { gov, turn }: TestGovernance,
  action: 'pause' | 'resume' | 'terminate',
  scope: ControlScope,
  by: Principal = operator,
  dryRun = false,
): Promise<unknown> {
  const done = controlScope(gov, by, { action, scope, reason: 'as told', dryRun, idempotencyKey: null });
  const progress = { isOver: false };
  const end = () => {
    progress.isOver = true;
  };
  done.then(end, end);
  for (let i = 0; i < 50 && !progress.isOver; i++) {
    turn();
    await new Promise((resolve) => setImmediate(resolve));
  }
  return await done;
}

async function asked(g: TestGovernance, agent: TestAgent, runId = 'r'): Promise<string> {
  const { decision, reason, policyRule } = await g.check(agent, { runId });
  return decision === 'allow' ? 'allow' : `${decision}: ${reason} (${policyRule})`;
}

const paused = 'deny: run is paused (control)';
const terminated = 'deny: run is terminated (control)';

describe('a control of a run', () => {
  test('holds for checks that come later, before any policy, until it is resumed', async () => {
    const { g, bot } = await world();
    await control(g, 'pause', { runId: 'r' });
    expect(await asked(g, bot)).toBe(paused);
    expect(await asked(g, bot, 'other')).toBe('allow');
    expect(await asked(g, bot, '')).toBe('allow');
    await g.policies('default: deny');
    expect(await asked(g, bot)).toBe(paused);
    await g.policies(policy);
    await control(g, 'terminate', { runId: 'r' });
    expect(await asked(g, bot)).toBe(terminated);
    // What is terminated does not become merely paused.
    await control(g, 'pause', { runId: 'r' });
    expect(await asked(g, bot)).toBe(terminated);
    await control(g, 'resume', { runId: 'r' });
    expect(await asked(g, bot)).toBe('allow');
  });

  test('is on record when it begins, when it refuses and when it ends', async () => {
    const { g, bot } = await world();
    await control(g, 'terminate', { runId: 'r', orgId: 'acme' });
    await g.check(bot, { runId: 'r', traceId: 't', spanId: 's' });
    await control(g, 'resume', { runId: 'r' });
    const log = await g.audit();
    const held = log.find(({ event_type: type }) => type === 'RunHeld');
    expect(held).toMatchObject({
      reason: 'as told',
      lineage: { org_id: 'acme' },
      payload: { action: 'terminate', run_id: 'r', org_id: 'acme', team_id: null, agent_id: null },
    });
    expect(log.find(({ op_id: id, decision }) => id === 't:s' && decision === 'deny')).toMatchObject({
      event_type: 'ActionDenied',
      reason: 'run is terminated',
      policy_rule: 'control',
      payload: { op_state: 'terminated', run_id: 'r' },
    });
    expect(log.filter(({ event_type: type }) => type === 'RunReleased')).toMatchObject([
      { payload: { control_id: held?.payload['control_id'] } },
    ]);
  });

  test('leaves an operation that was decided before with its answer', async () => {
    const { g, bot } = await world();
    const first = { runId: 'r', traceId: 't', spanId: 's' };
    await g.check(bot, first);
    await g.complete(bot, 't:s');
    await control(g, 'terminate', { runId: 'r' });
    expect(await g.check(bot, first)).toMatchObject({ decision: 'deny', reason: 'operation is completing' });
    expect(await g.check(bot, { ...first, spanId: 'other' })).toMatchObject({ reason: 'run is terminated' });
  });

  test('stops what is in flight and what comes right behind, with nothing in between', async () => {
    const { g, bot } = await world();
    await g.check(bot, { runId: 'r', traceId: 'before', spanId: 's' });
    const done = control(g, 'terminate', { runId: 'r' });
    const between = g.check(bot, { runId: 'r', traceId: 'between', spanId: 's' });
    await Promise.all([done, between]);
    const states = [...g.opsOf(bot.id).values()].map(({ opId, state }) => `${opId} ${state}`);
    expect(states.sort()).toEqual(['before:s terminated', 'between:s terminated']);
  });

  test.each<[string, ControlScope, Principal, readonly (keyof World)[]]>([
    ['everywhere', {}, operator, ['bot', 'ads', 'other']],
    ['in one org', { orgId: 'acme' }, operator, ['bot', 'ads']],
    ['in teams of a name', { teamId: 'search' }, operator, ['bot', 'other']],
    ['for one agent', { orgId: 'acme', teamId: 'ads', agentId: 'bot' }, operator, ['ads']],
    ['in the tenant of whoever said it', {}, acme, ['bot', 'ads']],
    ['in the team of whoever said it', {}, search, ['bot']],
  ])('holds %s', async (_where, scope, by, held) => {
    const made = await world();
    await control(made.g, 'terminate', { ...scope, runId: 'r' }, by);
    for (const name of ['bot', 'ads', 'other'] as const) {
      expect(await asked(made.g, made[name]), name).toBe(held.includes(name) ? terminated : 'allow');
    }
  });

  test('holds nowhere if the scope lies in another tenant: for the caller, there is no agent in it', async () => {
    const made = await world();
    const refused = control(made.g, 'terminate', { orgId: 'umbrella', runId: 'r' }, acme);
    await expect(refused).rejects.toMatchObject({ code: 'scope_not_found' });
    for (const name of ['bot', 'ads', 'other'] as const) expect(await asked(made.g, made[name]), name).toBe('allow');
  });

  test('survives a restart, and so does its end', async () => {
    const { g, bot } = await world();
    await control(g, 'pause', { runId: 'r' });
    await g.check(bot, { runId: 'r' });
    const again = await g.crash();
    expect(await asked(again, bot)).toBe(paused);
    await control(again, 'resume', { runId: 'r' });
    expect(await asked(await again.crash(), bot)).toBe('allow');
  });

  test('is not there if it could not be made durable', async () => {
    const { g, bot } = await world();
    g.failure = new Error('disk full');
    await expect(control(g, 'terminate', { runId: 'r' })).rejects.toThrow();
    g.failure = undefined;
    expect(await asked(g, bot)).toBe('allow');
    await control(g, 'terminate', { runId: 'r' });
    g.failure = new Error('disk full');
    await expect(control(g, 'resume', { runId: 'r' })).rejects.toThrow();
    g.failure = undefined;
    expect(await asked(g, bot)).toBe(terminated);
  });
});

describe('who may lift it', () => {
  test('nobody narrower than the one who imposed it, not even in a preview', async () => {
    const { g, bot } = await world();
    await control(g, 'terminate', { runId: 'r', orgId: 'acme' });
    for (const by of [acme, search]) {
      for (const dryRun of [false, true]) {
        const refused = control(g, 'resume', { runId: 'r' }, by, dryRun);
        await expect(refused).rejects.toMatchObject({ code: 'imposed_by_wider' });
      }
    }
    expect(await asked(g, bot)).toBe(terminated);
  });

  test('a narrower one lifts its own, and never what a wider one said beside it', async () => {
    const { g, bot, ads } = await world();
    await control(g, 'terminate', { runId: 'r' }, search);
    expect([await asked(g, bot), await asked(g, ads)]).toEqual([terminated, 'allow']);
    await control(g, 'pause', { runId: 'r', orgId: 'acme', teamId: 'search' }, acme);
    await expect(control(g, 'resume', { runId: 'r' }, search)).rejects.toMatchObject({ code: 'imposed_by_wider' });
    expect(await asked(g, bot)).toBe(terminated);
    await control(g, 'resume', { runId: 'r' }, acme);
    expect(await asked(g, bot)).toBe('allow');
  });

  test('not what was imposed since it was looked whom the resumption concerns', async () => {
    const { g, bot } = await world();
    const own = await g.register(agentId('acme/search/own'), {}, search);
    await control(g, 'pause', { runId: 'r', agentId: 'bot' }, search);
    const resumed = control(g, 'resume', { runId: 'r' }, search);
    await control(g, 'pause', { runId: 'r' }, keyOf('anotherkeyan', 'acme', 'search'));
    await resumed;
    expect([await asked(g, bot), await asked(g, own)]).toEqual([paused, paused]);
    await expect(control(g, 'resume', { runId: 'r' }, search)).rejects.toMatchObject({ code: 'own_agent' });
  });

  test('not the credential that registered an agent for which it holds', async () => {
    const { g, bot } = await world();
    const own = await g.register(agentId('acme/search/own'), {}, acme);
    await control(g, 'pause', { runId: 'r' }, acme);
    await expect(control(g, 'resume', { runId: 'r' }, acme)).rejects.toMatchObject({ code: 'own_agent' });
    expect([await asked(g, bot), await asked(g, own)]).toEqual([paused, paused]);
    await control(g, 'pause', { runId: 'q', agentId: 'bot' }, acme);
    await control(g, 'resume', { runId: 'q' }, acme);
    expect(await asked(g, bot, 'q')).toBe('allow');
    await control(g, 'resume', { runId: 'r' }, operator);
    expect(await asked(g, own)).toBe('allow');
  });

  test('not the credential whose agents have left: they come back, and would be free', async () => {
    const { g, ads } = await world();
    const own = await g.register(agentId('acme/search/own'), {}, acme);
    await control(g, 'pause', { runId: 'r' }, acme);
    await control(g, 'pause', { runId: 'own', agentId: 'own' }, acme);
    await control(g, 'pause', { runId: 'ads', teamId: 'ads' }, acme);
    // Another gateway's clock may be behind.
    g.clock.setWallClock(-1000);
    await g.deregister(own);
    let here = g;
    for (let round = 0; round < 2; round++) {
      for (const [runId, dryRun] of [
        ['r', false],
        ['r', true],
        ['own', false],
      ] as const) {
        const refused = control(here, 'resume', { runId }, acme, dryRun);
        await expect(refused, runId).rejects.toMatchObject({ code: 'own_agent' });
      }
      const back = await here.register(agentId('acme/search/own'), {}, acme);
      expect([await asked(here, back), await asked(here, back, 'own')]).toEqual([paused, paused]);
      await here.deregister(back);
      here = await here.crash();
    }
    g.clock.setWallClock(2000);
    // What becomes stronger after they have left holds them as before.
    await control(here, 'terminate', { runId: 'r' }, acme);
    await expect(control(here, 'resume', { runId: 'r' }, acme)).rejects.toMatchObject({ code: 'own_agent' });
    // What none of them was held by is lifted all the same, and what was imposed after they had left.
    await control(here, 'pause', { runId: 'later' }, acme);
    for (const runId of ['ads', 'later']) await control(here, 'resume', { runId }, acme);
    expect([await asked(here, ads, 'ads'), await asked(here, ads, 'later')]).toEqual(['allow', 'allow']);
    await control(here, 'resume', { runId: 'r' }, operator);
    expect(await asked(here, ads)).toBe('allow');
  });

  test('an agent leaves under thousands of controls with one row for each level, and nothing stays of it', async () => {
    const { g } = await world();
    holdMany(g, acme, mostRunControls);
    const own = await g.register(agentId('acme/search/own'), {}, search);
    await control(g, 'pause', { runId: 'own', agentId: 'own' }, operator);
    await g.deregister(own);
    await g.deregister(await g.register(agentId('acme/search/own'), {}, search));
    expect((await g.store.load()).departures.map(({ agentId: name }) => name)).toEqual(['own', null]);
    await control(g, 'resume', { runId: 'own' }, operator);
    const forgotten = forgetDepartures(g.gov);
    g.turn();
    await forgotten;
    expect((await g.store.load()).departures.map(({ agentId: name }) => name)).toEqual([null]);
  });

  test('not a credential with many departures, which takes the right from nobody else', async () => {
    const { g, ads } = await world();
    await control(g, 'pause', { runId: 'r' }, acme);
    await control(g, 'pause', { runId: 'ads', teamId: 'ads' }, acme);
    for (let n = 0; n < mostDeparturesOfOne; n++) {
      const departure = { orgId: 'acme', teamId: 'search', agentId: `a${n}`, credentialId: acme.credentialId };
      g.gov.control.departures.put({ ...departure, at: g.clock.now() });
    }
    for (const name of ['one', 'two']) {
      await g.deregister(await g.register(agentId(`acme/search/${name}`), {}, acme));
    }
    const saved = [{ orgId: 'acme', teamId: null, agentId: null, credentialId: acme.credentialId }];
    expect((await g.store.load()).departures).toMatchObject(saved);
    for (const runId of ['r', 'ads']) {
      await expect(control(g, 'resume', { runId }, acme)).rejects.toMatchObject({ code: 'own_agent' });
    }
    for (const runId of ['r', 'ads']) await control(g, 'resume', { runId }, keyOf('anotherkeyan', 'acme'));
    expect([await asked(g, ads), await asked(g, ads, 'ads')]).toEqual(['allow', 'allow']);
    const { departures } = g.gov.control;
    for (const departure of [...departures.of(null)].slice(1)) departures.remove(departure);
    await g.settle(forgetDepartures(g.gov));
    expect(departures.countOfOne({ orgId: 'acme', credentialId: acme.credentialId })).toBe(0);
  });

  test('nobody of an org, once more of its credentials are to be remembered than there is room for', async () => {
    const { g } = await world();
    await control(g, 'pause', { runId: 'r' }, acme);
    await control(g, 'pause', { runId: 'r' }, keyOf('umbrellakeyu', 'umbrella'));
    for (let n = 0; n < mostDepartures; n++) {
      const departure = { orgId: 'acme', teamId: `t${n}`, agentId: null, credentialId: `key${n}`, at: g.clock.now() };
      g.gov.control.departures.put(departure);
    }
    await g.deregister(await g.register(agentId('acme/search/own'), {}, search));
    expect((await g.store.load()).departures).toMatchObject([{ orgId: 'acme', teamId: null, credentialId: '*' }]);
    await expect(control(g, 'resume', { runId: 'r' }, acme)).rejects.toMatchObject({ code: 'own_agent' });
    await control(g, 'resume', { runId: 'r' }, keyOf('umbrellakeyu', 'umbrella'));
  });

  test('a resumption of less than it holds for leaves it', async () => {
    const { g, bot } = await world();
    await control(g, 'pause', { runId: 'r' });
    await control(g, 'resume', { runId: 'r', orgId: 'acme' });
    expect(await asked(g, bot)).toBe(paused);
  });
});

/** Lets so many runs be held, as if this credential had said so. */
function holdMany({ gov: { control: held } }: TestGovernance, by: Principal, count: number): void {
  const { orgId, teamId, actor } = by;
  const common = { action: 'terminate', orgId, teamId, agentId: null, imposedBy: { orgId, teamId }, at: 1 } as const;
  for (let n = 0; n < count; n++) {
    held.runs.put({ ...common, runId: `${actor.id}-${n}`, controlId: `ctl_${n}`, actor, refusedAt: null });
  }
}

describe('controls of runs do not pile up, and none is given up', () => {
  const full = { code: 'too_many_held_runs' };
  const [one, two, three] = ['onekeyonekey', 'twokeytwokey', 'threekeythre'].map((id) => keyOf(id, 'acme')) as [
    Principal,
    Principal,
    Principal,
  ];

  test('beyond the bound of a binding, further ones are refused, also in a preview', async () => {
    const { g, bot, other } = await world();
    const { runs } = g.gov.control;
    await control(g, 'terminate', { runId: 'first' }, one);
    holdMany(g, two, mostRunControlsOfOne);
    holdMany(g, three, mostRunControls - mostRunControlsOfOne - 1);
    expect(runs.countOf(one)).toBe(mostRunControls);
    const { opId } = await g.check(bot, { runId: 'last' });
    const agent = g.gov.directory.find(bot.id);
    const entries = (await g.audit()).length;
    for (const dryRun of [true, false]) {
      for (const action of ['pause', 'terminate'] as const) {
        await expect(control(g, action, { runId: 'last' }, one, dryRun)).rejects.toMatchObject(full);
      }
    }
    // Nothing of it is done.
    expect((await g.audit()).length).toBe(entries);
    expect(agent && g.gov.ops.find(agent, opId)?.state).toBe('running');
    expect(await asked(g, bot, 'last')).toBe('allow');
    for (const run of ['first', `${two.actor.id}-0`]) expect(await asked(g, bot, run), run).toBe(terminated);
    // Others are not concerned: neither wider ones, nor narrower ones, nor other tenants.
    await control(g, 'terminate', { runId: 'last' }, search);
    await control(g, 'pause', { runId: 'last', orgId: 'umbrella' }, operator);
    expect([await asked(g, bot, 'last'), await asked(g, other, 'last')]).toEqual([terminated, paused]);
  });

  test('what is held already can be said again, become stronger, and be resumed, which makes room', async () => {
    const { g, bot } = await world();
    await control(g, 'pause', { runId: 'first' }, one);
    await control(g, 'pause', { runId: 'second' }, one);
    holdMany(g, two, mostRunControlsOfOne);
    holdMany(g, three, mostRunControls - mostRunControlsOfOne - 2);
    await control(g, 'pause', { runId: 'first' }, two);
    await control(g, 'terminate', { runId: 'first' }, two);
    expect(await asked(g, bot, 'first')).toBe(terminated);
    await expect(control(g, 'pause', { runId: 'third' }, one)).rejects.toMatchObject(full);
    await control(g, 'resume', { runId: 'second' }, one);
    await control(g, 'pause', { runId: 'third' }, one);
    expect(await asked(g, bot, 'third')).toBe(paused);
  });

  test('one credential leaves room for what others have to stop', async () => {
    const { g, bot } = await world();
    holdMany(g, one, mostRunControlsOfOne);
    await expect(control(g, 'terminate', { runId: 'mine' }, one)).rejects.toMatchObject(full);
    await control(g, 'terminate', { runId: 'theirs' }, two);
    expect([await asked(g, bot, 'mine'), await asked(g, bot, 'theirs')]).toEqual(['allow', terminated]);
  });
});

test('one that nobody resumes holds for years, whether or not checks come in its run', async () => {
  const { g, bot } = await world();
  await control(g, 'terminate', { runId: 'idle' });
  await control(g, 'pause', { runId: 'busy' });
  g.clock.advance(200 * day);
  expect(await asked(g, bot, 'busy')).toBe(paused);
  g.clock.advance(200 * day);
  const again = await g.crash();
  expect([await asked(again, bot, 'idle'), await asked(again, bot, 'busy')]).toEqual([terminated, paused]);
});

test('a caller sees what lies in its tenant, newest first, page by page', async () => {
  const { g } = await world();
  await control(g, 'terminate', { runId: 'everywhere' });
  g.clock.advance(1);
  await control(g, 'pause', { runId: 'acme' }, acme);
  g.clock.advance(1);
  await control(g, 'terminate', { runId: 'search' }, search);
  const list = (by: Principal, limit = 10, before?: { at: number; id: string }, runId?: string) => {
    const { value } = listRunControls(g.gov, by, { runId }, { limit, before }).next();
    if (value === undefined) throw new Error('it takes more steps');
    return value;
  };
  const names = (by: Principal) => list(by).controls.map(({ runId }) => runId);
  expect(names(operator)).toEqual(['search', 'acme', 'everywhere']);
  expect(names(acme)).toEqual(['search', 'acme']);
  expect(names(search)).toEqual(['search']);
  expect(names(keyOf('umbrellakeyu', 'umbrella'))).toEqual([]);
  const first = list(operator, 2);
  expect(first).toMatchObject({ total: 3, next: { at: first.controls[1]?.at } });
  expect(list(operator, 2, first.next ?? undefined)).toMatchObject({ controls: [{ runId: 'everywhere' }], next: null });
  expect(list(operator, 2, undefined, 'acme')).toMatchObject({ total: 1, controls: [{ action: 'pause' }] });
});
