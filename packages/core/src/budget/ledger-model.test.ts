import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { MemoryStore } from '../memory/memory-store.ts';
import { OpsCheckpoint, sweepOps } from '../ops/checkpoint.ts';
import type { AgentId } from '../kernel/ids.ts';
import { control } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import { testGovernance } from '../testkit/test-governance.ts';
import { verifyBudgets } from './verify-budgets.ts';
import { ReservationReaper } from '../control/liveness.ts';
import type { Period } from './period.ts';
import { periods } from './period.ts';
import type { BudgetTier, TierOf } from './tier.ts';
import { tierKey, tiersOf } from './tier.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

/** Compares the ledger with a model of plain sums, over random interleavings, failing commits and crashes. */

const hour = 3_600_000;
const leaseMs = 6 * hour;
const names = ['acme/a/1', 'acme/a/2', 'acme/b/1', 'globex/a/1', '//1'] as const;
const caps: Readonly<Record<BudgetTier, Readonly<Record<Period, number>>>> = {
  global: { month: 900, day: 500 },
  org: { month: 700, day: 400 },
  team: { month: 500, day: 300 },
  agent: { month: 450, day: 200 },
};
const usd = (micros: number) => (micros / 1e6).toFixed(6);
const policy = `name: p
default: allow
budget:
  daily_limit_usd: ${usd(caps.global.day)}
  monthly_limit_usd: ${usd(caps.global.month)}
  org_daily_limit_usd: ${usd(caps.org.day)}
  org_monthly_limit_usd: ${usd(caps.org.month)}
  team_daily_limit_usd: ${usd(caps.team.day)}
  team_monthly_limit_usd: ${usd(caps.team.month)}
  agent_daily_limit_usd: ${usd(caps.agent.day)}
  agent_monthly_limit_usd: ${usd(caps.agent.month)}
`;

type Command =
  | { readonly do: 'check'; readonly agent: number; readonly trace: number; readonly cost: number }
  | { readonly do: 'complete'; readonly nth: number; readonly actual: number | null }
  | { readonly do: 'terminate'; readonly nth: number }
  | { readonly do: 'wait'; readonly hours: number }
  | { readonly do: 'save'; readonly most: number }
  | { readonly do: 'heartbeats' | 'keep house' | 'fail next turn' | 'crash' };

const agent = fc.nat({ max: names.length - 1 });
const trace = fc.nat({ max: 8 });
const someCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 10, arbitrary: fc.record({ do: fc.constant('check' as const), agent, trace, cost: fc.nat({ max: 180 }) }) },
  {
    weight: 7,
    arbitrary: fc.record({
      do: fc.constant('complete' as const),
      nth: fc.nat({ max: 30 }),
      actual: fc.option(fc.nat({ max: 250 }), { nil: null }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('terminate' as const), nth: fc.nat({ max: 30 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), hours: fc.constantFrom(1, 6, 13, 24, 300) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('save' as const), most: fc.integer({ min: 1, max: 4 }) }) },
  {
    weight: 6,
    arbitrary: fc.constantFrom<Command>(
      { do: 'heartbeats' },
      { do: 'keep house' },
      { do: 'fail next turn' },
      { do: 'crash' },
    ),
  },
);

interface ModelOp {
  readonly agent: AgentId;
  readonly cost: number;
  reserved: number;
  state: 'running' | 'over';
}

class Model {
  readonly ops = new Map<string, ModelOp>();
  readonly #spent = new Map<string, number>();

  total(of: TierOf, period: Period, now: number): { spent: number; reserved: number } {
    let reserved = 0;
    for (const op of this.ops.values()) if (tiersOf(op.agent).some((tier) => isSame(tier, of))) reserved += op.reserved;
    return { spent: this.#spent.get(bookName(of, period, now)) ?? 0, reserved };
  }

  book(id: AgentId, actual: number, now: number): void {
    for (const of of tiersOf(id)) {
      for (const period of periods) {
        const name = bookName(of, period, now);
        this.#spent.set(name, (this.#spent.get(name) ?? 0) + actual);
      }
    }
  }

  /** The first cap that a charge would pass, as the specification orders them. */
  refusal(id: AgentId, cost: number, now: number): string | undefined {
    if (cost === 0) return undefined;
    for (const of of tiersOf(id)) {
      for (const period of ['month', 'day'] as const) {
        const { spent, reserved } = this.total(of, period, now);
        if (spent + reserved + cost > caps[of.tier][period]) return `budget/${of.tier}.${period}`;
      }
    }
    return undefined;
  }
}

function isSame(a: TierOf, b: TierOf): boolean {
  return tierKey(a) === tierKey(b);
}

function bookName(of: TierOf, period: Period, now: number): string {
  return `${tierKey(of)} ${new Date(now).toISOString().slice(0, period === 'day' ? 10 : 7)}`;
}

class Simulation {
  readonly #store: MemoryStore;
  #test: TestGovernance;
  #checkpoint: OpsCheckpoint;
  #lease: ReservationReaper;
  readonly #agents: TestAgent[] = [];
  readonly #model = new Model();
  #failNext = false;

  private constructor(test: TestGovernance, store: MemoryStore) {
    this.#test = test;
    this.#store = store;
    this.#checkpoint = new OpsCheckpoint(test.gov, 10_000, 60_000);
    this.#lease = new ReservationReaper(test.gov, leaseMs, alwaysListened);
  }

  static async start(): Promise<Simulation> {
    const store = new MemoryStore();
    const test = await testGovernance({ store });
    await test.policies(policy);
    const simulation = new Simulation(test, store);
    for (const name of names) simulation.#agents.push(await test.register(agentId(name)));
    return simulation;
  }

  async run(command: Command): Promise<void> {
    const failing = this.#failNext && command.do !== 'crash' && command.do !== 'wait';
    if (failing) {
      this.#failNext = false;
      this.#test.failure = new Error('the disk is full');
    }
    await this.#act(command, failing);
    this.#test.turn();
    this.#test.failure = undefined;
    this.#compare();
  }

  async check(): Promise<void> {
    const { differences } = await verifyBudgets(this.#test.gov, operator, this.#store);
    expect(differences).toEqual([]);
  }

  async #act(command: Command, failing: boolean): Promise<void> {
    const test = this.#test;
    const now = test.clock.now();
    switch (command.do) {
      case 'check': {
        const { bot, key } = this.#named(command);
        const known = this.#model.ops.get(key);
        const refusal = this.#model.refusal(bot.id, command.cost, now);
        const traceId = `t${command.trace}`;
        const asked = test.check(bot, { traceId, spanId: 's', estimatedCostMicros: command.cost });
        if (failing) return await expect(asked).rejects.toMatchObject({ code: 'store_unavailable' });
        const answer = await asked;
        if (known !== undefined) {
          expect(answer.decision).toBe(known.state === 'running' ? 'allow' : 'deny');
          return;
        }
        expect([answer.decision, answer.limit === undefined ? undefined : answer.policyRule]).toEqual([
          refusal === undefined ? 'allow' : 'deny',
          refusal,
        ]);
        const isRunning = refusal === undefined;
        this.#model.ops.set(key, {
          agent: bot.id,
          cost: command.cost,
          reserved: isRunning ? command.cost : 0,
          state: isRunning ? 'running' : 'over',
        });
        return;
      }
      case 'complete': {
        const found = this.#nth(command.nth);
        if (found === undefined) return;
        const { bot, opId, known } = found;
        const ended = test.complete(bot, opId, { actualCostMicros: command.actual });
        if (failing || known.state !== 'running') return await expect(ended).rejects.toThrow();
        await ended;
        known.state = 'over';
        known.reserved = 0;
        this.#model.book(bot.id, command.actual ?? known.cost, now);
        return;
      }
      case 'terminate': {
        const found = this.#nth(command.nth);
        if (found?.known.state !== 'running') return;
        const { bot, opId, known } = found;
        const ended = control(test, bot, opId, 'terminate');
        if (failing) return await expect(ended).rejects.toThrow();
        await ended;
        known.state = 'over';
        known.reserved = 0;
        return;
      }
      case 'wait':
        test.clock.advance(command.hours * hour);
        return;
      case 'heartbeats':
        for (const bot of this.#agents) test.known(bot.id).aliveAt = test.clock.elapsed();
        return;
      case 'save':
        test.balance?.save(command.most);
        return;
      case 'keep house':
        return this.#keepHouse(failing);
      case 'fail next turn':
        this.#failNext = true;
        return;
      case 'crash':
        this.#test = await test.crash();
        await this.#test.policies(policy);
        // Replay may bring swept operations back. They are swept again.
        for (const op of sweptBy(this.#test)) this.#model.ops.delete(op);
        this.#checkpoint = new OpsCheckpoint(this.#test.gov, 10_000, 60_000);
        this.#lease = new ReservationReaper(this.#test.gov, leaseMs, alwaysListened);
    }
  }

  #keepHouse(failing: boolean): void {
    const test = this.#test;
    for (const op of sweptBy(test)) this.#model.ops.delete(op);
    test.turn();
    test.failure = undefined;
    while (this.#checkpoint.step(2)) test.turn();
    test.turn();
    test.turn();
    if (failing) test.failure = new Error('the disk is full');
    while (this.#lease.step(3));
    const due = this.#agents.filter(({ id }) => test.clock.elapsed() - Math.max(0, test.known(id).aliveAt) >= leaseMs);
    if (failing) return;
    for (const op of this.#model.ops.values()) if (due.some(({ id }) => id === op.agent)) op.reserved = 0;
  }

  #nth(nth: number): { bot: TestAgent; opId: string; known: ModelOp } | undefined {
    const running = [...this.#model.ops].filter(([, op]) => op.state === 'running' || nth === 0);
    const [key, known] = running[nth % Math.max(1, running.length)] ?? [];
    const bot = this.#agents.find(({ id }) => id === known?.agent);
    return key === undefined || known === undefined || bot === undefined
      ? undefined
      : { bot, opId: key.split(' ')[1] ?? '', known };
  }

  #named({ agent: index, trace: number }: { agent: number; trace: number }): { bot: TestAgent; key: string } {
    const bot = this.#agents[index];
    if (bot === undefined) throw new RangeError('no such agent');
    return { bot, key: `${names[index]} t${number}:s` };
  }

  #compare(): void {
    const now = this.#test.clock.now();
    for (const { id } of this.#agents) {
      for (const of of tiersOf(id)) {
        for (const period of periods) {
          const { spent, reserved } = this.#test.gov.ledger.read(of);
          expect({ of, period, spent: spent[period], reserved }).toEqual({
            of,
            period,
            ...this.#model.total(of, period, now),
          });
        }
      }
    }
  }
}

/** The operations that a sweep removes from the registry. The store must work, so that the sweep lasts. */
function sweptBy(test: TestGovernance): string[] {
  const held = () =>
    new Set(
      [...test.gov.directory.all()].flatMap((one) => [...test.gov.ops.of(one)].map(({ opId }) => `${one.key} ${opId}`)),
    );
  const before = held();
  test.failure = undefined;
  sweepOps(test.gov);
  test.turn();
  const after = held();
  return [...before].filter((name) => !after.has(name));
}

test('whatever happens, and wherever the process ends, the balances equal a plain sum and no cap is passed by a reservation', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someCommand, { maxLength: 100, size: 'max' }), async (commands) => {
      const simulation = await Simulation.start();
      for (const command of commands) await simulation.run(command);
      await simulation.check();
      await simulation.run({ do: 'crash' });
      await simulation.check();
    }),
    { numRuns: 60 },
  );
}, 180_000);
