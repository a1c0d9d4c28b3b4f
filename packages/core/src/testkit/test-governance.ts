import { hash } from 'node:crypto';
import { expect } from 'vitest';
import type { Issuers, SubjectIssuer } from '../access/issuers.ts';
import type { FindAccounts } from '../access/known-account.ts';
import type { WorkloadIssuer } from '../tenancy/workload-entry.ts';
import type { Principal } from '../access/principal.ts';
import type { ApprovalSettings } from '../approvals/approval-registry.ts';
import { sealer } from '../audit/chain.ts';
import type { ControlSettings } from '../control/control-registry.ts';
import type { Answer } from '../decision/answer.ts';
import { checkAction } from '../decision/check-action.ts';
import type { RawCheckRequest } from '../action/check-request.ts';
import type { BalanceKeeper } from '../budget/balance-keeper.ts';
import type { Micros } from '../kernel/money.ts';
import { usualMostActionMicros } from '../kernel/money.ts';
import type { Governance } from '../governance.ts';
import { emptyGovernance } from '../governance.ts';
import type { Change, Batch, Store, DomainEvent } from '../store.ts';
import { Journal } from '../journal/journal.ts';
import type { Unread } from '../journal/shared-log.ts';
import { everything } from '../journal/shared-log.ts';
import { MemoryStore } from '../memory/memory-store.ts';
import type { CompleteRequest } from '../ops/complete-op.ts';
import type { Op, OpRecord } from '../ops/op.ts';
import { shownOf } from '../events/shown-parts.ts';
import { loadPolicies } from '../policy/load-policies.ts';
import type { PolicyFeatures } from '../policy/condition.ts';
import { recover } from '../recover.ts';
import type { Agent } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/ids.ts';
import type { AgentBounds } from '../tenancy/index.ts';
import { usualAgentBounds } from '../tenancy/index.ts';
import type { RegisterRequest } from '../tenancy/register-agent.ts';
import type { SharedMember } from './shared-memory.ts';
import { followCommit, prepareToFollow } from '../replication/follow-commit.ts';
import { factsOn } from '../facts.ts';
import { fixedRandomness } from './fixed-randomness.ts';
import type { LoggedEntry } from './logged-entry.ts';
import { parseEntry } from './logged-entry.ts';
import { ManualClock } from './manual-clock.ts';
import { checkOf, operator, operatorKey, registration } from './requests.ts';
import { completeAction, deregisterAgent, registerAgent } from './commands.ts';

export function sha256(text: string): string {
  return hash('sha256', text, 'hex');
}

/** An agent that a test has registered. */
export interface TestAgent {
  readonly id: AgentId;
  readonly token: string;
}

/** A governance in memory. The test ends its turns, moves its clock, and can make its store fail. */
export interface TestGovernance {
  readonly gov: Governance;
  readonly clock: ManualClock;
  readonly store: Store;
  /** Everything published so far, in order. */
  readonly events: DomainEvent[];
  /** Every attempt to commit, with its batch. */
  readonly commits: Batch[];
  /** Keeps the balances in the store. */
  balance: BalanceKeeper | undefined;
  /** While set, commits throw it. */
  failure: Error | undefined;
  /** Ends the turn and commits what it gathered. */
  turn(): void;
  /** Ends the turn and waits for the work to settle. */
  settle<Result>(work: Promise<Result>): Promise<Result>;
  register(id: AgentId, members?: Partial<RegisterRequest>, by?: Principal): Promise<TestAgent>;
  deregister(agent: TestAgent, reason?: string): Promise<void>;
  check(agent: TestAgent, members?: Partial<RawCheckRequest>): Promise<Answer>;
  complete(agent: TestAgent, opId: string, members?: Partial<CompleteRequest>): Promise<OpRecord>;
  /** Puts policies in force. They must have no problems. */
  policies(...texts: string[]): Promise<void>;
  /** The agent as the directory knows it. */
  known(id: AgentId): Agent;
  /** The operations of an agent. */
  opsOf(id: AgentId): ReadonlyMap<string, Op>;
  audit(): Promise<LoggedEntry[]>;
  /** Kills the process and opens the same store in another one. Uncommitted work is gone. */
  crash(): Promise<TestGovernance>;
}

export interface TestOptions {
  readonly clock?: ManualClock;
  readonly store?: Store;
  readonly ttlMs?: number;
  /** For how long a quiet run is known. */
  readonly runTtlMs?: number;
  readonly control?: Partial<ControlSettings>;
  readonly approvals?: Partial<ApprovalSettings>;
  /** The accounts of those who decide. */
  readonly findAccounts?: FindAccounts;
  /** Features that policies may use. */
  readonly features?: PolicyFeatures;
  /** The most that one action may cost. */
  readonly mostActionMicros?: Micros;
  /** How many agents an org may have, and how much of their texts. */
  readonly agentBounds?: Partial<AgentBounds>;
  /** Who vouches for users. */
  readonly subjects?: Issuers<SubjectIssuer>;
  /** Whose JWTs are credentials of agents. */
  readonly workloads?: Issuers<WorkloadIssuer>;
  /** The log that it shares with other governances. */
  readonly member?: SharedMember;
  /** Tells it from other governances. */
  readonly name?: string;
}

export async function testGovernance(options: TestOptions = {}): Promise<TestGovernance> {
  const {
    clock = new ManualClock(),
    member,
    name = 'start',
    store = member?.store ?? new MemoryStore(),
    ttlMs = 60_000,
    runTtlMs = 30 * 86_400_000,
    control = {},
    approvals = {},
    findAccounts,
    features = {},
    mostActionMicros = usualMostActionMicros,
    agentBounds = {},
    subjects = { trusted: [] },
    workloads,
  } = options;
  const snapshot = await store.load();
  let flushes: (() => void)[] = [];
  const events: DomainEvent[] = [];
  const commits: Batch[] = [];
  let keeper: BalanceKeeper | undefined;
  const journal = new Journal<Change, DomainEvent>(
    {
      commit: (batch) => {
        commits.push(batch);
        if (test.failure !== undefined) throw test.failure;
        return member === undefined ? store.commit(batch) : member.commit(batch);
      },
      soon: (flush) => flushes.push(flush),
      seal: sealer(sha256),
      ...factsOn(() => gov),
      publish: (published) => {
        events.push(...published.flatMap(shownOf));
        keeper?.follow(published);
      },
      onCommit: () => undefined,
      onError: (error) => {
        throw error;
      },
      ...(member === undefined
        ? {}
        : {
            sharing: {
              ready: member.ready,
              read: member.read,
              lock: member.lock,
              prepare: (foreign) => prepareToFollow(gov, foreign),
              failed: () => undefined,
              follow: (commit) => {
                if (keeper === undefined) throw new Error('there is nothing yet that could follow');
                followCommit(gov, commit);
              },
            },
          }),
    },
    snapshot.head,
  );
  const gov = emptyGovernance(
    {
      store,
      journal,
      clock,
      randomness: fixedRandomness(`${name} after ${snapshot.head.seq}`),
      sha256,
      policyFeatures: features,
      subjects,
      agentBounds: { ...usualAgentBounds, ...agentBounds },
      mostActionMicros,
      opsTtlMs: ttlMs,
      runTtlMs,
      opsSeed: 0,
      control: { ackMs: 10_000, strict: false, ...control },
      approvals: { ttlMs: 300_000, notifies: false, ...approvals },
      onControlStep: () => undefined,
      findAccounts,
      ...(workloads === undefined ? {} : { workloads }),
    },
    snapshot,
  );
  if (gov.keys.find(operatorKey.id) === undefined) gov.keys.put(operatorKey);
  const turn = () => {
    const due = flushes;
    flushes = [];
    for (const flush of due) flush();
  };
  const settle = async <Result>(work: Promise<Result>): Promise<Result> => {
    turn();
    return await work;
  };
  const test: TestGovernance = {
    gov,
    clock,
    store,
    events,
    commits,
    failure: undefined,
    balance: undefined,
    turn,
    settle,
    register: async (id, members = {}, by = operator) => {
      const { token } = await settle(registerAgent(gov, by, registration(id, members)));
      return { id, token };
    },
    deregister: ({ id, token }, reason = '') => settle(deregisterAgent(gov, { agentId: id, token, reason })),
    check: ({ id, token }, members = {}) =>
      settle(checkAction(gov, checkOf({ agentId: id, token, ...members }, mostActionMicros))),
    complete: ({ id, token }, opId, members = {}) =>
      settle(
        completeAction(gov, {
          agentId: id,
          token,
          opId,
          actualCostMicros: null,
          outcome: 'succeeded',
          detail: '',
          ...members,
        }),
      ),
    policies: async (...texts) => {
      const sources = texts.map((text, index) => ({ file: `policy-${index + 1}.yaml`, text }));
      expect(await settle(loadPolicies(gov, sources, features))).toEqual([]);
    },
    known: (id) => {
      const agent = gov.directory.find(id);
      if (agent === undefined) throw new Error('the directory does not know this agent');
      return agent;
    },
    opsOf: (id) => new Map([...gov.ops.of(test.known(id))].map((op) => [op.opId, op])),
    audit: async () => (await store.after(0, Number.MAX_SAFE_INTEGER)).map(parseEntry),
    crash: async () => {
      flushes = [];
      clock.restart();
      const next = await testGovernance({
        ...{ clock, store, ttlMs, runTtlMs, control, approvals, features, mostActionMicros, subjects },
        ...(findAccounts === undefined ? {} : { findAccounts }),
      });
      next.gov.policies = gov.policies;
      const { stored } = next.gov.policyRegistry.sources;
      next.gov.policyRegistry.sources = { files: gov.policyRegistry.sources.files, stored };
      return next;
    },
  };
  const outOfService = ({ touched }: Unread) => gov.directory.outOfService.add(touched ?? everything);
  for (const unread of snapshot.unread) outOfService(unread);
  await recover(gov, snapshot, store, outOfService);
  keeper = gov.balances;
  test.balance = keeper;
  return test;
}
