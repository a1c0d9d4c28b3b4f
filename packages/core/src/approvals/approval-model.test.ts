import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { tiersOf } from '../budget/tier.ts';
import { ReeveError } from '../kernel/errors.ts';
import { approve, expire, person, reject } from '../testkit/approvals.ts';
import { control } from '../testkit/controls.ts';
import { agentId, useTool } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';

const people = ['alice', 'bob', 'carol'] as const;
const slots = [0, 1, 2] as const;
const ttlMs = 60_000;
const policy = `
name: p
default: allow
rules:
  - { name: one, effect: require_approval, tools: [one], approvals: { ttl_secs: 60 } }
  - { name: two, effect: require_approval, tools: [two], approvals: { count: 2, ttl_secs: 60 } }
`;

type End = 'terminate' | 'complete' | 'cancel';

type Step =
  | { readonly do: 'ask'; readonly slot: number; readonly tool: 'one' | 'two'; readonly cost: number }
  | { readonly do: 'approve' | 'reject'; readonly slot: number; readonly by: string }
  | { readonly do: 'both'; readonly slot: number; readonly by: string; readonly other: string }
  | { readonly do: End; readonly slot: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'set_clock'; readonly ms: number }
  | { readonly do: 'crash' }
  | { readonly do: 'fail'; readonly slot: number; readonly by: string };

const slot = fc.constantFrom(...slots);
const by = fc.constantFrom(...people);
const someStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('ask' as const),
      slot,
      tool: fc.constantFrom('one' as const, 'two' as const),
      cost: fc.nat(1000),
    }),
  },
  { weight: 5, arbitrary: fc.record({ do: fc.constantFrom('approve' as const, 'reject' as const), slot, by }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('both' as const), slot, by, other: by }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constantFrom<End[]>('terminate', 'complete', 'cancel'), slot }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1000, ttlMs / 2, ttlMs) }),
  },
  fc.record({ do: fc.constant('set_clock' as const), ms: fc.constantFrom(-3_600_000, -1000) }),
  fc.constant({ do: 'crash' as const }),
  fc.record({ do: fc.constant('fail' as const), slot, by }),
);

/** The expected state of one operation that asked. */
interface Expected {
  readonly approvalId: string;
  readonly tool: string;
  readonly cost: number;
  readonly required: number;
  readonly approvers: Set<string>;
  state: 'pending' | 'running' | 'completing' | 'terminated';
  approval: 'open' | 'approved' | 'rejected' | 'expired' | 'cancelled';
  /** How long it has waited, on the monotonic clock. */
  waitedMs: number;
}

/** Runs the steps on a real governance and on a plain model of what must come of them. */
class Run {
  world: TestGovernance;
  readonly bot: TestAgent;
  readonly ops = new Map<string, Expected>();
  readonly current = new Map<number, string>();
  spent = 0;
  #asked = 0;

  constructor(world: TestGovernance, bot: TestAgent) {
    this.world = world;
    this.bot = bot;
  }

  async step(step: Step): Promise<void> {
    switch (step.do) {
      case 'ask':
        return await this.#ask(step.slot, step.tool, step.cost);
      case 'approve':
      case 'reject':
        return await this.#verdict(step.slot, step.do, step.by);
      case 'both':
        return await this.#both(step.slot, step.by, step.other);
      case 'terminate':
      case 'complete':
      case 'cancel':
        return await this.#end(step.slot, step.do);
      case 'wait':
        return await this.#wait(step.ms);
      case 'set_clock':
        this.world.clock.setWallClock(step.ms);
        return;
      case 'crash':
        this.world.turn();
        this.world = await this.world.crash();
        return;
      case 'fail':
        return await this.#fail(step.slot, step.by);
    }
  }

  /**
   * Checks that nothing runs without approval, and that exactly the pending and running operations have reservations.
   */
  async agree(): Promise<void> {
    this.world.turn();
    const ops = this.world.opsOf(this.bot.id);
    for (const [opId, { state, approval, approvalId, approvers, required }] of this.ops) {
      expect(ops.get(opId)?.state, opId).toBe(state);
      const stored = await this.world.store.approvals.approval(approvalId);
      expect(stored?.state, approvalId).toBe(approval);
      expect(
        new Set(stored?.verdicts.filter((each) => each.verdict === 'approve').map((each) => each.actor.id)),
      ).toEqual(approvers);
      if (state === 'running' || state === 'completing') expect(approvers.size).toBeGreaterThanOrEqual(required);
    }
    const held = [...this.ops.values()].filter(({ state }) => state === 'pending' || state === 'running');
    const [of] = tiersOf(this.bot.id);
    const balance = of === undefined ? undefined : this.world.gov.ledger.read(of);
    expect(balance?.reserved).toBe(held.reduce((sum, { cost }) => sum + cost, 0));
    expect(balance?.spent.month).toBe(this.spent);
    expect(this.world.gov.approvals.openCount).toBe(held.filter(({ state }) => state === 'pending').length);
  }

  /** Checks that the log holds one request and at most one end for each approval. */
  async agreeWithLog(): Promise<void> {
    const ends = new Set(['ApprovalGranted', 'ApprovalRejected', 'ApprovalExpired', 'ApprovalCancelled']);
    const entries = await this.world.audit();
    for (const [opId, { approvalId, approval }] of this.ops) {
      const about = entries.filter((entry) => entry.payload['approval_id'] === approvalId && entry.op_id === opId);
      expect(about.filter((entry) => entry.event_type === 'ApprovalRequested')).toHaveLength(1);
      expect(about.filter((entry) => ends.has(entry.event_type))).toHaveLength(approval === 'open' ? 0 : 1);
    }
  }

  async #ask(where: number, tool: 'one' | 'two', cost: number): Promise<void> {
    const traceId = `t${++this.#asked}`;
    const action = { traceId, spanId: 's', action: useTool(tool), estimatedCostMicros: cost };
    const { approvalId, opId, decision } = await this.world.check(this.bot, action);
    expect(decision).toBe('pending');
    expect(await this.world.check(this.bot, action)).toMatchObject({ decision: 'pending', approvalId });
    const required = tool === 'one' ? 1 : 2;
    this.ops.set(opId, {
      approvalId,
      tool,
      cost,
      required,
      approvers: new Set(),
      state: 'pending',
      approval: 'open',
      waitedMs: 0,
    });
    this.current.set(where, opId);
  }

  #at(where: number): [string, Expected] | undefined {
    const opId = this.current.get(where);
    const op = opId === undefined ? undefined : this.ops.get(opId);
    return opId === undefined || op === undefined ? undefined : [opId, op];
  }

  /** Applies a verdict to an open approval of the model, and tells whether it counts. */
  #judge(op: Expected, what: 'approve' | 'reject', name: string): boolean {
    if (op.approval !== 'open' || op.approvers.has(name)) return false;
    if (what === 'approve') {
      op.approvers.add(name);
      if (op.approvers.size < op.required) return true;
    }
    op.approval = what === 'approve' ? 'approved' : 'rejected';
    op.state = what === 'approve' ? 'running' : 'terminated';
    return true;
  }

  async #verdict(where: number, what: 'approve' | 'reject', name: string): Promise<void> {
    const [, op] = this.#at(where) ?? [];
    if (op === undefined) return;
    const taken = await isTaken((what === 'approve' ? approve : reject)(this.world, op.approvalId, person(name)));
    expect(taken).toBe(this.#judge(op, what, name));
  }

  async #both(where: number, first: string, second: string): Promise<void> {
    const [, op] = this.#at(where) ?? [];
    if (op === undefined) return;
    const taken = await Promise.all([
      isTaken(approve(this.world, op.approvalId, person(first))),
      isTaken(reject(this.world, op.approvalId, person(second))),
    ]);
    expect(taken).toEqual([this.#judge(op, 'approve', first), this.#judge(op, 'reject', second)]);
  }

  /** An operator terminates what is not over. The agent completes what runs, and calls off what waits. */
  async #end(where: number, what: End): Promise<void> {
    const [opId, op] = this.#at(where) ?? [];
    if (opId === undefined || op === undefined) return;
    const outcome = what === 'cancel' ? 'cancelled' : 'succeeded';
    const ending =
      what === 'terminate'
        ? control(this.world, this.bot, opId, 'terminate')
        : this.world.complete(this.bot, opId, { outcome });
    const completes = what !== 'terminate' && op.state === 'running';
    const terminates = what === 'terminate' ? op.state !== 'completing' : what === 'cancel' && op.state === 'pending';
    expect(await isTaken(ending)).toBe(completes || terminates);
    if (!completes && !terminates) return;
    if (op.approval === 'open') op.approval = 'cancelled';
    if (completes) this.spent += op.cost;
    op.state = completes ? 'completing' : 'terminated';
  }

  async #wait(ms: number): Promise<void> {
    this.world.clock.advance(ms);
    await expire(this.world);
    for (const op of this.ops.values()) {
      op.waitedMs += ms;
      if (op.approval !== 'open') continue;
      const stored = await this.world.store.approvals.approval(op.approvalId);
      // A clock that was set back before a restart gives an approval its whole time again, and never more.
      const isOver = stored?.state === 'expired';
      if (op.waitedMs < ttlMs) expect(isOver).toBe(false);
      if (!isOver) continue;
      op.approval = 'expired';
      op.state = 'terminated';
    }
  }

  /** Gives a verdict that cannot be made durable. */
  async #fail(where: number, name: string): Promise<void> {
    const [, op] = this.#at(where) ?? [];
    if (op === undefined) return;
    this.world.failure = new Error('the disk is full');
    expect(await isTaken(approve(this.world, op.approvalId, person(name)))).toBe(false);
    this.world.failure = undefined;
  }
}

async function isTaken(work: Promise<unknown>): Promise<boolean> {
  try {
    await work;
    return true;
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    return false;
  }
}

test('over any sequence of verdicts, ends, waits and restarts there is one verdict, nothing runs without it, and nothing stays held back', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someStep, { maxLength: 25 }), async (steps) => {
      const world = await testGovernance({ ttlMs: 1e12 });
      await world.policies(policy);
      const run = new Run(world, await world.register(agentId('acme/search/bot')));
      for (const step of steps) {
        await run.step(step);
        await run.agree();
      }
      await run.agreeWithLog();
    }),
    { numRuns: 300 },
  );
});
