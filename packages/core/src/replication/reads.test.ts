import { isDeepStrictEqual } from 'node:util';
import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { correctBudget } from '../budget/correct-budget.ts';
import { checkAction } from '../decision/check-action.ts';
import { execute } from '../commands.ts';
import { ownWork } from '../journal/warrant.ts';
import { ReeveError } from '../kernel/errors.ts';
import { opPath } from '../kernel/ids.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import { OpsCheckpoint, sweepOps } from '../ops/checkpoint.ts';
import type { Facts, PolicyFeatures } from '../policy/condition.ts';
import { putPolicy } from '../policy/store/change-policy.ts';
import type { Batch } from '../store.ts';
import { approveAction, completeAction, controlScope, delegateAgent } from '../testkit/commands.ts';
import { deregisterAgent, liftSuspension, registerAgent, rejectAction, resumeAgent } from '../testkit/commands.ts';
import { revokeDelegation, suspendAgent, suspendScope } from '../testkit/commands.ts';
import { agentId, checkOf, operator, registration, useTool } from '../testkit/requests.ts';
import { askAbout } from '../testkit/results.ts';
import { SharedMemory } from '../testkit/shared-memory.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { sha256 } from '../testkit/test-governance.ts';
import { ticks, twoGateways } from '../testkit/two-gateways.ts';

// A turn that another gateway overtakes must end as if it had come after what overtook it. Whatever a rule reads, the order
// of the log must explain its answer. A read that goes unnoted shows here as an answer that no order explains.

const usd = 1e6;

const policy = `
name: p
default: allow
budget: { daily_limit_usd: 10 }
rates: [{ per: org, tools: [counted], window_secs: 60, max: 2 }]
rules:
  - { name: ask, effect: require_approval, tools: [shell] }
  - { name: frugal, effect: deny, tools: [frugal], when: spend }
  - { name: calm, effect: deny, tools: [calm], when: run }
  - { name: results, on: result, effect: deny, when: run }
  - { name: told, on: result, effect: allow, labels: [told] }
  - { name: mail, effect: allow, tools: [mail], labels: [mail] }
  - { name: secret, effect: allow, tools: [secret], labels: [secret], labels_of: agent }
  - { name: web, effect: require_approval, tools: [web], labels: [web] }
  - { name: guarded, effect: deny, tools: [post, wire], when: labels }
  - { name: wire, effect: require_approval, tools: [wire] }
  - { name: read, on: result, effect: allow, tools: [read], labels: [read] }
  - { name: edit, effect: allow, tools: [edit], rewrite: { seen: labels } }
`;

const farCap = 'name: far-cap\nscope: org:far\nbudget: { daily_limit_usd: 3 }\n';

const features: PolicyFeatures = {
  compileCondition: (source) => {
    if (source === 'spend') return (facts) => facts.spend().global.day_usd > 7.5;
    if (source === 'run') return (facts) => facts.run().checks > 0;
    return Object.assign((facts: Facts) => facts.run().labels.length > 0, { readsLabels: true } as const);
  },
  compileValue: () => (facts) => facts.run().labels.join(),
  compileResultCondition: () => (facts) => facts.run().checks > 2,
};

const agents = [
  'acme/red/boss',
  'acme/red/two',
  'acme/blue/three',
  'acme/blue/still',
  'acme/green/team',
  'far/x/away',
  'far/x/other',
];
const delegates = ['helper', 'ex', 'why'];
const tokenOf = (name: string) => `the token of ${name}, which is long enough`;
const newcomer = { id: agentId('acme/red/new'), token: tokenOf('the newcomer') };

type World = Awaited<ReturnType<typeof begin>>;

/** Remembers what was committed, so that other worlds can begin with it. */
class Recording extends MemoryStore {
  readonly batches: Batch[] = [];

  override commit(batch: Batch): void {
    this.batches.push(batch);
    super.commit(batch);
  }
}

/** Whether something is done, or has failed. */
function watchOf(work: Promise<unknown>): { readonly isOver: boolean } {
  const watch = { isOver: false };
  const end = () => {
    watch.isOver = true;
  };
  work.then(end, end);
  return watch;
}

async function worldOn(log: SharedMemory) {
  const cluster = await twoGateways(policy, { features }, log);
  const { one, two } = cluster;
  /** Ends the turns of both until this is done. */
  const settled = async <Result>(work: Promise<Result>): Promise<Result> => {
    const watch = watchOf(work);
    for (let round = 0; !watch.isOver && round < 50; round++) {
      await ticks();
      one.turn();
      two.turn();
      while (log.waiting > 0) {
        log.work();
        await ticks();
      }
    }
    return work;
  };
  const follow = async () => {
    for (const { gov } of [one, two]) await settled(gov.journal.catchUp());
  };
  return { ...cluster, settled, follow };
}

/** What the gateways know in the beginning: agents, delegates, operations, an approval, suspensions and a held run. */
async function prepare() {
  const store = new Recording();
  const { one, settled } = await worldOn(new SharedMemory(store));
  const known = new Map<string, TestAgent>();
  const agent = (name: string): TestAgent => known.get(name) ?? { id: agentId(`acme/red/${name}`), token: '' };
  for (const name of agents) {
    const id = agentId(name);
    const token = tokenOf(name);
    await settled(registerAgent(one.gov, operator, registration(id, { token })));
    known.set(id.agentId, { id, token });
  }
  const limits = { maxCostMicros: 3 * usd, maxChecks: 2, maxDelegates: 3 };
  for (const [at, name] of delegates.entries()) {
    const by = agent(at === 0 ? 'boss' : 'helper');
    const granted = await settled(delegateAgent(one.gov, by, name, at === 0 ? limits : {}));
    known.set(name, { id: granted.agentId, token: granted.token });
  }
  const check = (at: TestGovernance, name: string, op: string, members: object = {}) => {
    const { id, token } = agent(name);
    return checkAction(at.gov, checkOf({ agentId: id, token, traceId: op, spanId: 's', ...members }));
  };
  await settled(check(one, 'two', 'held', { estimatedCostMicros: 5 * usd }));
  await settled(check(one, 'two', 'old'));
  await settled(check(one, 'two', 'labels', { runId: 'r0', action: useTool('mail') }));
  await settled(complete(one, agent('two'), 'old', 0));
  await settled(check(one, 'why', 'above', { estimatedCostMicros: 2 * usd }));
  // Of this cap, everybody has been told.
  await settled(putPolicy(one.gov, operator, { name: 'far-cap', source: farCap, note: '' }));
  await settled(check(one, 'away', 'full', { estimatedCostMicros: 3 * usd }));
  await settled(complete(one, agent('away'), 'full', 0));
  await settled(check(one, 'three', 'counted', { action: useTool('counted') }));
  const asked = await settled(check(one, 'three', 'asked', { action: useTool('shell') }));
  const labelling = await settled(check(one, 'two', 'labelling', { runId: 'r', action: useTool('web') }));
  const wiring = await settled(check(one, 'two', 'wiring', { runId: 'r', action: useTool('wire') }));
  await settled(check(one, 'two', 'reading', { runId: 'r', action: useTool('read') }));
  await settled(check(one, 'two', 'editing', { runId: 'r', ...edit }));
  await settled(suspendAgent(one.gov, operator, agent('still').id, 'an incident'));
  const { id: suspension } = await settled(suspendScope(one.gov, operator, { orgId: 'acme', teamId: 'green' }));
  await settled(controlScope(one.gov, operator, scope('acme', 'r2')));
  const { head } = one.gov.journal;
  const approvals = {
    approvalId: asked.approvalId ?? '',
    labellingId: labelling.approvalId ?? '',
    wiringId: wiring.approvalId ?? '',
  };
  return { batches: store.batches, head, agent, check, ...approvals, suspension };
}

let prepared: ReturnType<typeof prepare> | undefined;

/** Two gateways that know the same. */
async function begin() {
  prepared ??= prepare();
  const { batches, head, ...beginning } = await prepared;
  const store = new MemoryStore();
  for (const batch of batches) store.commit(batch);
  const world = await worldOn(new SharedMemory(store, head));
  await world.follow();
  return { ...world, ...beginning };
}

function scope(orgId: string, runId: string) {
  return { action: 'pause', scope: { orgId, runId }, reason: '', dryRun: false, idempotencyKey: null } as const;
}

function complete({ gov }: TestGovernance, { id, token }: TestAgent, op: string, cost: number) {
  const how = { actualCostMicros: cost * usd, outcome: 'succeeded', detail: '' } as const;
  return completeAction(gov, { agentId: id, token, opId: `${op}:s`, ...how });
}

function control({ gov }: TestGovernance, { id }: TestAgent, op: string, action: 'pause' | 'terminate') {
  return execute(gov, { kind: 'control_op', by: operator, opId: opPath(id, `${op}:s`), action, reason: '' });
}

function report({ gov }: TestGovernance, { id, token }: TestAgent, tools: readonly string[]) {
  const changed = tools.map((each) => ({ tool: each, locked: sha256('before'), actual: sha256('now') }));
  return execute(gov, { kind: 'report_tools', agentId: id, token, source: 'fs', changed });
}

/** As housekeeping does it with runs that were quiet for long. */
function forgetRun({ gov }: TestGovernance, runId: string): void {
  const place = { orgId: 'acme', teamId: 'red', runId, agentId: '' };
  if (gov.runs.find(place) !== undefined)
    gov.journal.apply({ kind: 'runs_forgotten', runs: [place], at: gov.clock.now() });
}

type Deed = (at: TestGovernance, world: World) => Promise<unknown>;

const cost = (amount: number) => ({ estimatedCostMicros: amount * usd });
const tool = (name: string) => ({ action: useTool(name) });
const edit = { action: useTool('edit', {}), canRewrite: true };

/** What is done in one turn. */
const turns: Readonly<Record<string, Deed>> = {
  'a check': (at, { check }) => check(at, 'boss', 'plain'),
  'a check that fits': (at, { check }) => check(at, 'three', 'fits', cost(2)),
  'a check that does not fit': (at, { check }) => check(at, 'boss', 'large', cost(5)),
  'a check near a share of the cap': (at, { check }) => check(at, 'boss', 'near', cost(0.75)),
  'a check in another org': (at, { check }) => check(at, 'away', 'mine', cost(2)),
  'another check in another org': (at, { check }) => check(at, 'other', 'theirs', cost(2)),
  'a check of a delegate': (at, { check }) => check(at, 'ex', 'of-ex', cost(1)),
  'a check that is too dear for a delegation': (at, { check }) => check(at, 'ex', 'dear', cost(2)),
  'another check of a delegate': (at, { check }) => check(at, 'why', 'of-why'),
  'a check that asks': (at, { check }) => check(at, 'boss', 'asks', tool('shell')),
  'a counted check': (at, { check }) => check(at, 'boss', 'counts', tool('counted')),
  'another counted check': (at, { check }) => check(at, 'two', 'counts-too', tool('counted')),
  'a check by what was spent': (at, { check }) => check(at, 'three', 'frugal', tool('frugal')),
  'a check in a run': (at, { check }) => check(at, 'boss', 'runs', { runId: 'r' }),
  'a check by its run': (at, { check }) => check(at, 'boss', 'calm', { runId: 'r', ...tool('calm') }),
  'a check of a delegate by its run': (at, { check }) => check(at, 'ex', 'calm-ex', { runId: 'r', ...tool('calm') }),
  'a check of a delegate in a run': (at, { check }) => check(at, 'why', 'runs-why', { runId: 'r' }),
  'a check that labels a run': (at, { check }) => check(at, 'boss', 'mails', { runId: 'r', ...tool('mail') }),
  'the same label by another': (at, { check }) => check(at, 'two', 'mails-too', { runId: 'r', ...tool('mail') }),
  'a check that labels an agent': (at, { check }) => check(at, 'boss', 'secret', tool('secret')),
  'a check of a delegate that labels': (at, { check }) => check(at, 'ex', 'secret-ex', tool('secret')),
  'a check by labels': (at, { check }) => check(at, 'boss', 'posts', { runId: 'r', ...tool('post') }),
  'a check of a delegate by labels': (at, { check }) => check(at, 'why', 'posts-why', { runId: 'r', ...tool('post') }),
  'a check that labels once it is approved': (at, { check }) =>
    check(at, 'two', 'webs', { runId: 'r', ...tool('web') }),
  'an approval that labels': (at, { labellingId }) =>
    approveAction(at.gov, operator, labellingId, { reason: '', grant: null }),
  'an approval of what labels may forbid': (at, { wiringId }) =>
    approveAction(at.gov, operator, wiringId, { reason: '', grant: null }),
  'a judgement that labels a run': (at, { agent }) => askAbout(at, agent('two'), 'reading:s', '1'),
  'a completion that labels a run': (at, { agent }) => complete(at, agent('two'), 'reading', 0),
  'a check that is rewritten': (at, { check }) => check(at, 'boss', 'edits', { runId: 'r', ...edit }),
  'a replay of what was rewritten': (at, { check }) => check(at, 'two', 'editing', { runId: 'r', ...edit }),
  'a check by labels of its own run': (at, { check }) => check(at, 'two', 'posts-own', tool('post')),
  'a clearing of labels': (at) =>
    execute(at.gov, { kind: 'clear_labels', by: operator, orgId: 'acme', teamId: 'red', runId: 'r0', reason: '' }),
  'a forgetting of that run': (at) => at.gov.journal.turn(ownWork, () => forgetRun(at, 'r0')),
  'a check in a labelled run': (at, { check }) => check(at, 'boss', 'posts-0', { runId: 'r0', ...tool('post') }),
  'a check in a held run': (at, { check }) => check(at, 'boss', 'holds', { runId: 'r2' }),
  'a replay': (at, { check }) => check(at, 'two', 'held', cost(5)),
  'a check of a suspended agent': (at, { check }) => check(at, 'still', 'stands'),
  'a check in a suspended team': (at, { check }) => check(at, 'team', 'stays'),
  'a check of a stranger': (at) =>
    checkAction(at.gov, checkOf({ agentId: newcomer.id, token: newcomer.token, traceId: 'n', spanId: 's' })),
  'a check with a foreign token': (at, { agent }) =>
    checkAction(at.gov, checkOf({ agentId: agent('two').id, token: newcomer.token, traceId: 'f', spanId: 's' })),
  'a completion': (at, { agent }) => complete(at, agent('two'), 'held', 1),
  'a judgement of a result': (at, { agent }) => askAbout(at, agent('two'), 'held:s', '{"a":1}'),
  'a dear completion': (at, { agent }) => complete(at, agent('two'), 'held', 9),
  'a completion of a delegate': (at, { agent }) => complete(at, agent('why'), 'above', 1),
  'a termination': (at, { agent }) => control(at, agent('two'), 'held', 'terminate'),
  'a termination of a delegate': (at, { agent }) => control(at, agent('why'), 'above', 'terminate'),
  'a pause': (at, { agent }) => control(at, agent('two'), 'held', 'pause'),
  'a pause by its id alone': (at) =>
    execute(at.gov, { kind: 'control_op', by: operator, opId: 'held:s', action: 'pause', reason: '' }),
  'another operation with that id': (at, { check }) => check(at, 'boss', 'held'),
  'an approval': (at, { approvalId }) => approveAction(at.gov, operator, approvalId, { reason: '', grant: null }),
  'a rejection': (at, { approvalId }) => rejectAction(at.gov, operator, approvalId, ''),
  'a suspension': (at, { agent }) => suspendAgent(at.gov, operator, agent('boss').id, ''),
  'a resumption': (at, { agent }) => resumeAgent(at.gov, operator, agent('still').id, ''),
  'a registration': (at) => registerAgent(at.gov, operator, registration(newcomer.id, { token: newcomer.token })),
  'a registration with the same token': (at) =>
    registerAgent(at.gov, operator, registration(agentId('far/x/same'), { token: newcomer.token })),
  'a departure': (at, { agent }) =>
    deregisterAgent(at.gov, { agentId: agent('two').id, token: agent('two').token, reason: '' }),
  'a departure of a delegator': (at, { agent }) =>
    deregisterAgent(at.gov, { agentId: agent('boss').id, token: agent('boss').token, reason: '' }),
  'a delegation': (at, { agent }) => delegateAgent(at.gov, agent('boss'), 'more'),
  'a delegation of a delegate': (at, { agent }) => delegateAgent(at.gov, agent('helper'), 'below'),
  'a delegation below that one': (at, { agent }) => delegateAgent(at.gov, agent('ex'), 'below-ex'),
  'the end of a delegation': (at, { agent }) => revokeDelegation(at.gov, agent('boss'), 'helper'),
  'a report of changed tools': (at, { agent }) => report(at, agent('two'), ['read']),
  'a report of these and more': (at, { agent }) => report(at, agent('two'), ['read', 'write']),
  'a correction': (at) => correctBudget(at.gov, operator, { orgId: 'acme', amountUsd: '2.6', reason: 'x' }),
  'a correction to less': (at) => correctBudget(at.gov, operator, { orgId: 'acme', amountUsd: '-1', reason: 'x' }),
  'a save of rows': (at) => at.gov.journal.turn(ownWork, () => new OpsCheckpoint(at.gov, 1, 1, 0).step(50)),
  'a sweep': (at) => at.gov.journal.turn(ownWork, () => sweepOps(at.gov)),
  'a save of balances': (at) => at.gov.journal.turn(ownWork, () => at.gov.balances.save(100)),
};

/** What takes several turns, or is done for the sake of what comes later. */
const works: Readonly<Record<string, Deed>> = {
  'another request with its id': (at, { check }) => check(at, 'boss', 'counts'),
  'a free check with its id': (at, { check }) => check(at, 'boss', 'near'),
  'the same check outside of a run': (at, { check }) => check(at, 'boss', 'runs'),
  'a suspension of a team': (at) => suspendScope(at.gov, operator, { orgId: 'acme', teamId: 'red' }),
  'a suspension of everything': (at) => suspendScope(at.gov, operator, { action: 'terminate' }),
  'the end of a suspension': (at, { suspension }) => liftSuspension(at.gov, operator, suspension),
  'a hold of a run': (at) => controlScope(at.gov, operator, scope('acme', 'r')),
  'the end of a hold': (at) => controlScope(at.gov, operator, { ...scope('acme', 'r2'), action: 'resume' }),
  'other caps': (at) =>
    putPolicy(at.gov, operator, { name: 'caps', source: 'name: caps\nbudget: { daily_limit_usd: 6 }\n', note: '' }),
  'a rule of an org': (at) =>
    putPolicy(at.gov, operator, {
      name: 'no',
      source: 'name: no\nscope: org:acme\nrules: [{ name: no, effect: deny, tools: ["*"] }]\n',
      note: '',
    }),
};

const firsts = { ...turns, ...works };

/** What can be told of a promise: the answer or the refusal. Whatever was drawn at random is left out. */
async function told(work: Promise<unknown>): Promise<string> {
  try {
    return plain(await work);
  } catch (error) {
    return error instanceof ReeveError ? plain([error.code, error.message]) : String(error);
  }
}

function plain(value: unknown): string {
  const text = JSON.stringify(value, (key, member: unknown) => (drawn.has(key) ? undefined : member)) ?? '';
  return text.replaceAll(/\b(?:apr|sus|ctl|rcp|rva|grant|gr|ctrl)_[\w-]+|[0-9a-f]{16,}/g, 'ID');
}

/** Where something stands in the log, and in what order it became known, depends on what came before it. */
const drawn: ReadonlySet<string> = new Set([
  'hash',
  'ordinal',
  'policy_version',
  'prev_hash',
  'savedSeq',
  'seq',
  'startedAt',
]);

/** Everything that both gateways and the log say in the end. */
async function ending({ one, two, follow }: World, answers: readonly Promise<unknown>[], from: number) {
  const heard = await Promise.all(answers.map(told));
  await follow();
  const entries = (await one.audit())
    .slice(from)
    .map(({ event_type, decision, reason, policy_rule, op_id, actor, lineage, payload }) =>
      plain([event_type, decision, reason, policy_rule, op_id, actor, lineage, payload]),
    )
    .toSorted();
  const memories = [one, two].map(({ gov }) =>
    plain({
      agents: [...gov.directory.all()].map(({ key, record }) => `${key} ${record.suspension?.reason}`).toSorted(),
      ops: [...gov.directory.all()]
        .flatMap((agent) =>
          [...gov.ops.of(agent)].map(({ opId, state, reservedMicros, reason, resultDuty, rewrite }) =>
            plain([agent.key, opId, state, reservedMicros, reason, resultDuty, rewrite?.changes]),
          ),
        )
        .toSorted(),
      balances: gov.ledger
        .all()
        .filter(({ spent, reserved }) => spent.month !== 0 || reserved !== 0)
        .map(({ of, spent, reserved }) => plain([of, spent, reserved]))
        .toSorted(),
      labels: [...gov.runs.all()]
        .map(({ name, place }) => plain([name, gov.runs.labels.of({ of: 'run', place })]))
        .concat(
          [...gov.directory.all()].map(({ key, record: { id } }) =>
            plain([key, gov.runs.labels.of({ of: 'agent', place: { ...id, runId: '' } })]),
          ),
        )
        .toSorted(),
      delegations: [...gov.directory.delegations.all]
        .map((each) => plain([each.id, each.checks, each.settledMicros, each.endedAt]))
        .toSorted(),
    }),
  );
  expect(memories[1]).toBe(memories[0]);
  return { heard, entries, memory: memories[0] };
}

/** One thing after the other: the first elsewhere, the others here. */
async function inOrder(first: string, rest: readonly string[]) {
  const world = await begin();
  const from = (await world.one.audit()).length;
  const answers: Promise<unknown>[] = [];
  for (const [at, name] of [first, ...rest].entries()) {
    const answer = firsts[name]?.(at === 0 ? world.two : world.one, world) ?? Promise.reject(new Error(name));
    answers.push(answer);
    await world.settled(answer).catch(() => undefined);
    await world.follow();
  }
  return ending(world, answers, from);
}

/**
 * The same, but what is done here is done before this gateway hears of the first. `fails`: then the store is gone, so all of
 * it is taken back.
 */
async function overtaken(first: string, rest: readonly string[], fails = false) {
  const world = await begin();
  const { one, two, log, settled } = world;
  const from = (await one.audit()).length;
  const answers = rest.map((name) => turns[name]?.(one, world) ?? Promise.reject(new Error(name)));
  for (const answer of answers) answer.catch(() => undefined);
  await ticks();
  one.turn();
  const waiting = log.waiting;
  const foreign = firsts[first]?.(two, world) ?? Promise.reject(new Error(first));
  const watch = watchOf(foreign);
  for (let round = 0; !watch.isOver && round < 50; round++) {
    await ticks();
    two.turn();
    while (log.waiting > waiting) {
      log.work(waiting);
      await ticks();
    }
  }
  if (fails) {
    log.work();
    await ticks();
    log.outage = new Error('the store is gone');
  }
  await settled(Promise.allSettled([foreign, ...answers]));
  log.outage = undefined;
  return ending(world, [foreign, ...answers], from);
}

const names = Object.keys(turns);
const most = 11;
const parts = Array.from({ length: Math.ceil(names.length / most) }, (_, at) =>
  names.slice(at * most, (at + 1) * most),
);

describe.each(Object.keys(firsts))('after %s', (first) => {
  test.each(parts)(
    'whatever was done before this is heard of ends as if it came later: %s and more',
    async (...some) => {
      for (const name of some) {
        expect(await overtaken(first, [name]), `${name}, overtaken by ${first}`).toEqual(await inOrder(first, [name]));
      }
    },
  );
});

// Facts that alter the same commute: one can be taken back although the other came between it and its end.
test('nothing stays of what is taken back, whatever came meanwhile', async () => {
  const pairs = fc.record({ first: fc.constantFrom(...Object.keys(firsts)), name: fc.constantFrom(...names) });
  await fc.assert(
    fc.asyncProperty(pairs, async ({ first, name }) => {
      await overtaken(first, [name], true);
    }),
    { numRuns: 60, examples: [[{ first: 'a clearing of labels', name: 'a forgetting of that run' }]] },
  );
});

function logOf({ entries, memory }: Awaited<ReturnType<typeof ending>>) {
  return { entries, memory };
}

// What the later one was refused for, the earlier one did. It does nothing after the first, which concerns nobody else.
test.each([
  ['another request with its id', 'a counted check', 'another counted check'],
  ['a free check with its id', 'a check near a share of the cap', 'a check by what was spent'],
  ['the same check outside of a run', 'a check in a run', 'a check of a delegate by its run'],
])('after %s, %s is made again, and so is %s', async (first, ...both) => {
  expect(logOf(await overtaken(first, both))).toEqual(logOf(await inOrder(first, both)));
});

test('two turns of one gateway end as in one order of the two, whatever overtakes them', async () => {
  const two = fc.uniqueArray(fc.constantFrom(...names), { minLength: 2, maxLength: 2 });
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...Object.keys(firsts)), two, async (first, both) => {
      // A termination after a check wins as long as the answer has not left. So only the log is compared.
      const found = logOf(await overtaken(first, both));
      if (isDeepStrictEqual(found, logOf(await inOrder(first, both)))) return;
      expect(found).toEqual(logOf(await inOrder(first, both.toReversed())));
    }),
    { numRuns: 60 },
  );
});
