import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { OpsCheckpoint, sweepOps } from '../ops/checkpoint.ts';
import { recordOf } from '../ops/op.ts';
import type { Listener } from '../testkit/controls.ts';
import { finish, listen, permissive } from '../testkit/controls.ts';
import { agentId, operator } from '../testkit/requests.ts';
import type { TestAgent, TestGovernance } from '../testkit/test-governance.ts';
import type { AckOutcome, ControlAction, Receipt } from '../ops/receipt.ts';
import { timeOutControls } from './receipts.ts';
import { acknowledgeControl, controlOp, controlScope, resumeAgent, suspendAgent } from '../testkit/commands.ts';
import { alwaysListened } from '../testkit/manual-clock.ts';

const agentNames = ['acme/search/bot', 'umbrella//bot'] as const;
const tickMs = 10_000;
const ttlMs = 60_000;

type AgentCommand = 'listen' | 'stop listening' | 'suspend' | 'resume' | 'register' | 'leave';

type Command =
  | { readonly do: 'check'; readonly agent: number; readonly traceId: string }
  | {
      readonly do: 'control';
      readonly agent: number;
      readonly traceId: string;
      readonly action: ControlAction;
      /** The org of the agent acts instead of the operator, who may take over what the org has paused. */
      readonly byOrg: boolean;
    }
  | { readonly do: 'control all'; readonly action: ControlAction }
  | { readonly do: 'ack'; readonly agent: number; readonly sequence: number; readonly outcome: AckOutcome }
  | { readonly do: AgentCommand; readonly agent: number }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'keep house' | 'fail next turn' | 'crash' };

const agent = fc.nat({ max: agentNames.length - 1 });
const traceId = fc.constantFrom('t1', 't2', 't3');
const action = fc.constantFrom<ControlAction>('pause', 'resume', 'terminate');
const outcome = fc.constantFrom<AckOutcome>('received', 'effective', 'failed');
const ofAgent = (...names: AgentCommand[]) => fc.record({ do: fc.constantFrom(...names), agent });

const someCommand: fc.Arbitrary<Command> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant('check' as const), agent, traceId }) },
  {
    weight: 8,
    arbitrary: fc.record({ do: fc.constant('control' as const), agent, traceId, action, byOrg: fc.boolean() }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('control all' as const), action }) },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant('ack' as const),
      agent,
      sequence: fc.integer({ min: 1, max: 12 }),
      outcome,
    }),
  },
  { weight: 6, arbitrary: ofAgent('listen', 'listen', 'stop listening', 'suspend', 'resume', 'register', 'leave') },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.constantFrom(1, 9_999, 10_000) }) },
  { weight: 3, arbitrary: fc.constantFrom<Command>({ do: 'keep house' }, { do: 'fail next turn' }, { do: 'crash' }) },
);

/** Drives a gateway with commands that control its agents. The gateway crashes now and then. */
class Simulation {
  #test: TestGovernance;
  #checkpoint: OpsCheckpoint;
  readonly #agents: TestAgent[] = [];
  readonly #listeners = new Map<number, Listener[]>();
  #failNext = false;

  private constructor(test: TestGovernance) {
    this.#test = test;
    this.#checkpoint = new OpsCheckpoint(test.gov, tickMs, ttlMs);
  }

  static async start(): Promise<Simulation> {
    const simulation = new Simulation(await permissive({ ttlMs }));
    for (const name of agentNames) simulation.#agents.push(await simulation.#test.register(agentId(name)));
    return simulation;
  }

  async run(command: Command): Promise<void> {
    const failing = this.#failNext && command.do !== 'crash';
    if (failing) this.#test.failure = new Error('the disk is full');
    await settled(this.#act(command));
    this.#test.turn();
    // Deliveries are noted in a turn of their own.
    this.#test.turn();
    if (failing) this.#failNext = false;
    this.#test.failure = undefined;
    await this.#agreeWithStore();
  }

  async #act(command: Command): Promise<unknown> {
    const test = this.#test;
    const { gov } = test;
    const done = <Result>(work: Promise<Result>) => finish(test, work);
    switch (command.do) {
      case 'check':
        return await test.check(this.#agent(command.agent), { traceId: command.traceId, spanId: 's' });
      case 'control': {
        const op = test.opsOf(this.#agent(command.agent).id).get(`${command.traceId}:s`);
        const by = command.byOrg ? { ...operator, orgId: this.#agent(command.agent).id.orgId } : operator;
        return op === undefined ? undefined : await done(controlOp(gov, by, op, command.action, 'so it is'));
      }
      case 'control all': {
        const request = { scope: { all: true }, reason: '', dryRun: false, idempotencyKey: null };
        return await done(controlScope(gov, operator, { action: command.action, ...request }));
      }
      case 'ack': {
        const { id, token } = this.#agent(command.agent);
        const { sequence, outcome } = command;
        return await done(
          acknowledgeControl(gov, { agentId: id, token, sequence, outcome, detail: 'said', processes: null }),
        );
      }
      case 'listen':
        return this.#listening(command.agent).push(await listen(test, this.#agent(command.agent)));
      case 'stop listening':
        return this.#listening(command.agent).pop()?.subscription.close();
      case 'suspend':
        return await done(suspendAgent(gov, operator, this.#agent(command.agent).id, 'so it is'));
      case 'resume':
        return await done(resumeAgent(gov, operator, this.#agent(command.agent).id, 'so it is'));
      case 'register':
        return await this.#register(command.agent);
      case 'leave':
        await test.deregister(this.#agent(command.agent));
        test.failure = undefined;
        return await this.#register(command.agent);
      case 'wait':
        test.clock.advance(command.ms);
        return timeOutControls(gov, 100, alwaysListened);
      case 'keep house':
        sweepOps(gov);
        while (this.#checkpoint.step(2)) {
          test.turn();
          // While the store fails there is always more to write. Housekeeping tries again later.
          if (test.failure !== undefined) return undefined;
        }
        return undefined;
      case 'fail next turn':
        this.#failNext = true;
        return undefined;
      case 'crash':
        return await this.#crash();
    }
  }

  async #register(index: number): Promise<void> {
    this.#agents[index] = await this.#test.register(this.#agent(index).id);
  }

  async #crash(): Promise<void> {
    this.#test.gov.ops.sweep();
    const before = picture(this.#test);
    this.#test = await this.#test.crash();
    this.#test.gov.ops.sweep();
    this.#checkpoint = new OpsCheckpoint(this.#test.gov, tickMs, ttlMs);
    this.#listeners.clear();
    expect(picture(this.#test)).toEqual(before);
  }

  /** Memory must match the store, whatever failed on the way. */
  async #agreeWithStore(): Promise<void> {
    const { receipts, agents } = await this.#test.store.load();
    const waiting = picture(this.#test).outboxes.flatMap((outbox) => outbox.receipts);
    expect(byId(receipts.filter((receipt) => receipt.waiting))).toEqual(byId(waiting));
    for (const record of agents) {
      const owed = receipts.some(({ agent, blocks }) => blocks && agent.orgId === record.id.orgId);
      expect(this.#test.known(record.id).blocked).toBe(owed);
    }
  }

  #listening(index: number): Listener[] {
    const listeners = this.#listeners.get(index) ?? [];
    this.#listeners.set(index, listeners);
    return listeners;
  }

  #agent(index: number): TestAgent {
    const found = this.#agents[index];
    if (found === undefined) throw new RangeError('no such agent');
    return found;
  }
}

interface MailboxPicture {
  readonly lastSequence: number;
  readonly receipts: readonly Receipt[];
  readonly blocking: readonly Receipt[];
}

/** All that must survive: operations with their control, outboxes, and which agents are blocked or have listened. */
function picture({ gov }: TestGovernance) {
  const outboxes = agentNames.map((name): MailboxPicture => {
    const outbox = gov.control.outbox(agentId(name));
    const receipts = [...outbox.queued()].flatMap(({ receipt }) => (receipt === null ? [] : [receipt]));
    return { lastSequence: outbox.lastSequence, receipts, blocking: byId([...outbox.blocking.values()]) };
  });
  const agents = [...gov.directory.all()].map((agent) => {
    const { key, blocked, record } = agent;
    const records = [...gov.ops.of(agent)].map((op) => ({ ...recordOf(op), stale: false }));
    return { key, blocked, record, ops: records.sort((a, b) => (a.opId < b.opId ? -1 : 1)) };
  });
  return { outboxes, agents: agents.sort((a, b) => (a.key < b.key ? -1 : 1)) };
}

function byId(receipts: readonly Receipt[]): Receipt[] {
  return receipts.toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

/** A refusal is an answer like any other here. */
async function settled(work: Promise<unknown>): Promise<void> {
  try {
    await work;
  } catch (error) {
    expect(error).toHaveProperty(
      'code',
      expect.stringMatching(/^(invalid_transition|control_not_found|store_unavailable|imposed_by_wider|own_agent)$/),
    );
  }
}

test('after any history, any failure of the store and any crash, controls are as they were', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(someCommand, { maxLength: 60, size: 'max' }), async (commands) => {
      const simulation = await Simulation.start();
      for (const command of commands) await simulation.run(command);
      await simulation.run({ do: 'crash' });
    }),
    { numRuns: 150 },
  );
}, 60_000);
