import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { checkAction } from '../decision/check-action.ts';
import { forgetEndedDelegations } from '../control/forget-delegations.ts';
import { verifyBudgets } from '../budget/verify-budgets.ts';
import { applyFact } from '../facts.ts';
import type { Governance } from '../governance.ts';
import { ownWork } from '../journal/index.ts';
import type { MemoryStore } from '../memory/memory-store.ts';
import { OpsCheckpoint, sweepOps } from '../ops/checkpoint.ts';
import { isOver } from '../ops/lifecycle.ts';
import { completeAction, controlOp, delegateAgent, deregisterAgent } from '../testkit/commands.ts';
import { registerAgent, revokeDelegation } from '../testkit/commands.ts';
import type { LoggedEntry } from '../testkit/logged-entry.ts';
import { agentId, checkOf, operator, registration } from '../testkit/requests.ts';
import { Cluster, ticks } from '../testkit/shared-cluster.ts';
import { newForMs } from '../tenancy/index.ts';

const bot = agentId('acme/search/bot');
const token = 'the token of the agent, long enough';
const opIds = ['a:s', 'b:s'];
const narrow: Principal = { ...operator, orgId: 'acme', teamId: 'search' };
const [tickMs, ttlMs] = [1000, 2000];

type Move = { readonly at: number; readonly op: number; readonly does: string };

/** Gateways with their housekeeping. Any of them may believe that it leads. */
class House {
  readonly cluster = new Cluster('default: allow', { ttlMs });
  readonly #checkpoints: OpsCheckpoint[] = [];

  async start(): Promise<void> {
    await this.cluster.start(3);
    for (const { gov } of this.cluster.members) this.#checkpoints.push(checkpointOf(gov));
    const registering = registerAgent(this.cluster.at(0).gov, operator, registration(bot, { token }));
    await this.cluster.settle();
    await registering;
  }

  async move({ at, op, does }: Move): Promise<unknown> {
    const { gov } = this.cluster.at(at);
    const opId = opIds[op % opIds.length] ?? '';
    const [traceId = '', spanId = ''] = opId.split(':');
    const owner = gov.directory.find(bot);
    const known = owner && gov.ops.find(owner, opId);
    switch (does) {
      case 'check':
        return checkAction(gov, checkOf({ agentId: bot, token, traceId, spanId, estimatedCostMicros: 5 }));
      case 'complete':
        return completeAction(gov, {
          agentId: bot,
          token,
          opId,
          actualCostMicros: 3,
          outcome: 'succeeded',
          detail: '',
        });
      case 'sweep':
        return gov.journal.turn(ownWork, () => sweepOps(gov));
      case 'save':
        return gov.journal.turn(ownWork, () => this.#checkpoints[at]?.step(2));
      default: {
        const [action, by] = controls[does] ?? (['pause', operator] as const);
        return known && controlOp(gov, by, known, action, '');
      }
    }
  }

  /** All gateways keep house in turn, as time goes by; one of them leads. */
  async pass(ticksToPass: number, leader: number): Promise<void> {
    for (let tick = 0; tick < ticksToPass; tick++) {
      this.cluster.clock.advance(tickMs);
      const work = this.cluster.members.map((_, at) => this.move({ at, op: 0, does: 'sweep' }));
      for (let step = 0; step < 4; step++) work.push(this.move({ at: leader, op: 0, does: 'save' }));
      await this.cluster.settle();
      await Promise.all(work);
    }
  }

  async restart(at: number): Promise<void> {
    const { gov } = await this.cluster.restart(at);
    this.#checkpoints[at] = checkpointOf(gov);
  }
}

function checkpointOf(gov: Governance): OpsCheckpoint {
  return new OpsCheckpoint(gov, tickMs, ttlMs, ttlMs);
}

const controls: Readonly<Record<string, readonly ['pause' | 'resume' | 'terminate', Principal]>> = {
  pause: ['pause', narrow],
  'pause it too': ['pause', operator],
  resume: ['resume', operator],
  terminate: ['terminate', operator],
};

/** What is in flight, and who holds what is paused. */
function inFlight({ directory, ops }: Governance) {
  const owner = directory.find(bot);
  const all = owner === undefined ? [] : [...ops.of(owner)].filter(({ state }) => !isOver(state));
  return all
    .map(({ opId, state, reservedMicros, control }) => ({
      opId,
      state,
      reservedMicros,
      control: state === 'paused' ? control?.id : undefined,
    }))
    .sort((one, other) => (one.opId < other.opId ? -1 : 1));
}

/** The same by the log alone. */
function inFlightBy(entries: readonly LoggedEntry[]) {
  const states = new Map<string, string>();
  for (const { op_id: opId, payload } of entries) {
    const state = payload['replay'] === true ? undefined : (payload['op_state'] ?? payload['to']);
    if (opId !== null && typeof state === 'string') states.set(opId, state);
  }
  const all = [...states].map(([opId, state]) => ({ opId, state }));
  return all
    .filter(({ state }) => state !== 'completing' && state !== 'terminated')
    .sort((a, b) => (a.opId < b.opId ? -1 : 1));
}

const at = fc.nat(2);
const does = fc.constantFrom('check', 'check', 'check', 'complete', 'terminate', 'pause', 'pause it too', 'resume');
const moves = fc.oneof(
  { weight: 8, arbitrary: fc.record({ at, op: fc.nat(1), does }) },
  { weight: 2, arbitrary: fc.record({ at, op: fc.nat(1), does: fc.constantFrom('sweep', 'save') }) },
  { weight: 2, arbitrary: fc.record({ turn: at }) },
  { weight: 2, arbitrary: fc.record({ work: fc.nat(2) }) },
  { weight: 3, arbitrary: fc.record({ pass: fc.constantFrom(1, 2, 4, 12), leader: at }) },
  { weight: 2, arbitrary: fc.record({ restart: at }) },
);

test('after any sweeps, leads and restarts, what is in flight is what the log says, for everybody', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(moves, { minLength: 10, maxLength: 60, size: 'max' }), at, async (plan, leader) => {
      const house = new House();
      const { cluster } = house;
      await house.start();
      const answers: Promise<unknown>[] = [];
      for (const move of plan) {
        if ('turn' in move) cluster.at(move.turn).turn();
        else if ('work' in move) cluster.log.work(Math.min(move.work, Math.max(0, cluster.log.waiting - 1)));
        else if ('pass' in move) await house.pass(move.pass, move.leader);
        else if ('restart' in move) {
          await cluster.settle();
          await house.restart(move.restart);
        } else answers.push(house.move(move).catch((error: unknown) => error));
        await ticks();
      }
      await cluster.settle();
      await Promise.all(answers);
      // A start then reads rows, and hardly any entry.
      await house.pass(12, leader);
      const living = inFlight(cluster.at(1).gov);
      await house.restart(0);
      const logged = inFlightBy(await cluster.at(0).audit());
      for (const { gov, store } of cluster.members) {
        expect(inFlight(gov)).toEqual(living);
        expect(inFlight(gov).map(({ opId, state }) => ({ opId, state }))).toEqual(logged);
        const verifying = verifyBudgets(gov, operator, store as MemoryStore);
        expect(await verifying).toMatchObject({ consistent: true });
      }
    }),
    { numRuns: 100 },
  );
}, 180_000);

test('a gateway that was held up saves no operation as running that others have ended and swept meanwhile', async () => {
  const house = new House();
  const { cluster } = house;
  await house.start();
  const checking = house.move({ at: 0, op: 0, does: 'check' });
  await cluster.settle();
  await checking;
  cluster.clock.advance(ttlMs);
  // It has decided to save the operation as running, and comes no further.
  const saving = house.move({ at: 0, op: 0, does: 'save' });
  const [heldUp, ...others] = cluster.members;
  cluster.members.splice(0, 3, ...others);
  const [two = heldUp] = others;
  if (two === undefined) throw new Error('there is no other gateway');
  const completing = two.complete({ id: bot, token }, 'a:s', { actualCostMicros: 3 });
  await cluster.settle();
  await completing;
  cluster.clock.advance(ttlMs + tickMs);
  const sweeping = two.gov.journal.turn(ownWork, () => sweepOps(two.gov));
  await cluster.settle();
  expect(await sweeping).toBe(1);
  if (heldUp !== undefined) cluster.members.unshift(heldUp);
  await cluster.settle();
  await saving;
  const rows = async () => [...(await cluster.log.store.load()).ops].map(({ state }) => state);
  expect(await rows()).toEqual(['completing']);
  await house.pass(4, 0);
  expect(await rows()).toEqual([]);
});

test.each(['runs', 'is over', 'is forgotten'])(
  'an agent that leaves takes a row along that another gateway writes of an operation that %s here',
  async (isHere) => {
    const house = new House();
    const { cluster } = house;
    await house.start();
    const checking = house.move({ at: 0, op: 0, does: 'check' });
    await cluster.settle();
    await checking;
    // It ran for so long that it gets a row, though it is over.
    cluster.clock.advance(2 * ttlMs);
    const completing = isHere === 'runs' ? undefined : house.move({ at: 0, op: 0, does: 'complete' });
    await cluster.settle();
    await completing;
    cluster.clock.advance(ttlMs + tickMs);
    const sweeping = isHere === 'is forgotten' ? house.move({ at: 0, op: 0, does: 'sweep' }) : 1;
    await cluster.settle();
    expect(await sweeping).toBe(1);
    const leaving = deregisterAgent(cluster.at(0).gov, { agentId: bot, token, reason: '' });
    const saving = house.move({ at: 1, op: 0, does: 'save' });
    cluster.at(1).turn();
    await ticks();
    cluster.log.work();
    expect([...(await cluster.log.store.load()).ops]).toHaveLength(1);
    await cluster.settle();
    await Promise.all([saving, leaving]);
    await house.pass(4, 1);
    expect([...(await cluster.log.store.load()).ops]).toEqual([]);
  },
);

test('a delegation that is forgotten takes a row along that another gateway writes meanwhile', async () => {
  const house = new House();
  const { cluster } = house;
  await house.start();
  const { gov } = cluster.at(0);
  const done = async <Result>(work: Promise<Result>) => {
    await cluster.settle();
    return await work;
  };
  const boss = { id: bot, token };
  const child = await done(delegateAgent(gov, boss, 'child', { ttlSecs: 100 }));
  const { agentId: id, token: childToken } = child;
  const ids = { agentId: id, token: childToken };
  await done(checkAction(gov, checkOf({ ...ids, traceId: 'a', spanId: 's', estimatedCostMicros: 5 })));
  // It ran for so long that it gets a row, though it is over.
  cluster.clock.advance(2 * ttlMs);
  await done(revokeDelegation(gov, boss, 'child'));
  cluster.clock.advance(ttlMs + tickMs);
  expect(await done(gov.journal.turn(ownWork, () => sweepOps(gov)))).toBe(1);
  cluster.clock.advance(newForMs);
  const forgetting = gov.journal.turn(ownWork, () => forgetEndedDelegations(gov, 10));
  const saving = house.move({ at: 1, op: 0, does: 'save' });
  cluster.at(1).turn();
  await ticks();
  cluster.log.work();
  expect([...(await cluster.log.store.load()).ops]).toHaveLength(1);
  await done(saving);
  expect(await forgetting).toBe(1);
  await house.pass(4, 1);
  expect([...(await cluster.log.store.load()).ops]).toEqual([]);
});

test('a row is owed again once its removal is taken back, although its agent has left meanwhile', async () => {
  const house = new House();
  await house.start();
  const { gov } = house.cluster.at(0);
  const removed = { kind: 'op_removed', id: agentId('acme/search/gone'), opId: 'a:s' } as const;
  const takeBack = applyFact(gov, removed, { isHere: true, seq: 0, onDurable: () => undefined });
  expect(gov.ops.hasRowsToRemove).toBe(false);
  takeBack();
  expect([...gov.ops.takeForgottenRows()]).toMatchObject([{ id: removed.id, opId: removed.opId }]);
});

test('a gateway writes no row of an operation that another one forgets meanwhile, and whose row that one removes', async () => {
  const house = new House();
  const { cluster } = house;
  await house.start();
  const begin = async (move: Move) => {
    const moving = house.move(move);
    await cluster.settle();
    await moving;
  };
  await begin({ at: 0, op: 0, does: 'check' });
  cluster.clock.advance(2 * ttlMs);
  await begin({ at: 0, op: 0, does: 'save' });
  await begin({ at: 0, op: 0, does: 'complete' });
  cluster.clock.advance(ttlMs + tickMs);
  const saving = house.move({ at: 0, op: 0, does: 'save' });
  const sweeping = house.move({ at: 1, op: 0, does: 'sweep' });
  cluster.at(1).turn();
  await ticks();
  cluster.log.work();
  expect([...(await cluster.log.store.load()).ops]).toEqual([]);
  await cluster.settle();
  expect(await sweeping).toBe(1);
  await saving;
  expect([...(await cluster.log.store.load()).ops]).toEqual([]);
});
