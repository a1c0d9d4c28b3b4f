import type { ControlMessage } from '../control/outbox.ts';
import type { AckOutcome, ControlAction, Receipt } from '../ops/receipt.ts';
import type { ControlSubscription } from '../control/messages.ts';
import { subscribeControl } from '../control/messages.ts';
import type { ReeveError } from '../kernel/errors.ts';
import type { Op, OpRecord } from '../ops/op.ts';
import { operator } from './requests.ts';
import type { TestAgent, TestGovernance, TestOptions } from './test-governance.ts';
import { testGovernance } from './test-governance.ts';
import { acknowledgeControl, controlOp } from './commands.ts';

/** A listening agent and what it has heard. */
export interface Listener {
  readonly heard: ControlMessage[];
  /** Sequence and signal of all messages heard. */
  readonly signals: () => string[];
  readonly subscription: ControlSubscription;
  /** Why the stream ended. */
  failure: ReeveError | undefined;
  /** How many more messages the listener takes before it falls behind. */
  room: number;
}

/** Ends turns until the work has settled. */
export async function finish<Result>(test: TestGovernance, work: Promise<Result>): Promise<Result> {
  const state = { settled: false };
  const note = () => {
    state.settled = true;
  };
  work.then(note, note);
  for (let turns = 0; !state.settled && turns < 10_000; turns++) {
    test.turn();
    for (let tasks = 0; tasks < 20; tasks++) await Promise.resolve();
  }
  return await work;
}

export async function listen(
  test: TestGovernance,
  agent: TestAgent,
  afterSequence = 0,
  waitsOnly = false,
): Promise<Listener> {
  const heard: ControlMessage[] = [];
  const state = { failure: undefined as ReeveError | undefined, room: Number.POSITIVE_INFINITY };
  const request = { agentId: agent.id, token: agent.token, afterSequence, waitsOnly };
  const subscribing = subscribeControl(test.gov, request, {
    isOpen: () => state.failure === undefined,
    send: (message) => {
      heard.push(message);
      return --state.room > 0;
    },
    fail: (error) => {
      state.failure = error;
    },
  });
  const subscription = await finish(test, subscribing);
  const signals = () => heard.map(({ sequence, signal }) => `${sequence} ${signal}`);
  return Object.assign(state, { heard, signals, subscription });
}

export function opOf(test: TestGovernance, agent: TestAgent, opId: string): Op {
  return test.gov.ops.get(test.known(agent.id), opId);
}

export async function control(
  test: TestGovernance,
  agent: TestAgent,
  opId: string,
  action: ControlAction,
  reason = '',
  by = operator,
): Promise<{ readonly op: OpRecord; readonly control: Receipt | null }> {
  return await finish(test, controlOp(test.gov, by, opOf(test, agent, opId), action, reason));
}

export async function ack(
  test: TestGovernance,
  agent: TestAgent,
  sequence: number,
  outcome: AckOutcome,
  detail = '',
  processes: number | null = null,
): Promise<void> {
  const request = { agentId: agent.id, token: agent.token, sequence, outcome, detail, processes };
  await finish(test, acknowledgeControl(test.gov, request));
}

/** The receipt of a message, as the store has it. */
export async function storedReceipt(test: TestGovernance, agent: TestAgent, sequence: number): Promise<Receipt> {
  test.turn();
  const receipt = await test.store.receiptOf(agent.id, sequence);
  if (receipt === undefined) throw new Error(`the store has no receipt ${sequence}`);
  return receipt;
}

/** A governance that allows everything. */
export async function permissive(options: TestOptions = {}): Promise<TestGovernance> {
  const test = await testGovernance(options);
  await test.policies('default: allow');
  return test;
}

/** Runs operations `<name>:s` of an agent. */
export async function run(test: TestGovernance, agent: TestAgent, ...names: readonly string[]): Promise<void> {
  for (const traceId of names) await test.check(agent, { traceId, spanId: 's' });
}
