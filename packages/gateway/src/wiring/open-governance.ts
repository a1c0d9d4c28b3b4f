import type { Change, Clock, DomainEvent, Governance, OnControlStep, Randomness, Snapshot, Store } from '@reeve/core';
import {
  AgentDirectory,
  ApprovalRegistry,
  BalanceKeeper,
  budgetPolicy,
  ControlRegistry,
  DecisionTally,
  EventBus,
  EventLog,
  governanceOf,
  Journal,
  KeyRing,
  Ledger,
  noBudgets,
  OpsRegistry,
  PolicyRegistry,
  PolicySet,
  policyVersion,
  recoverBalances,
  recoverOps,
  restoreApprovals,
  restoreControl,
  RunTally,
  sealer,
  withWriters,
} from '@reeve/core';
import { policyFeatures } from '../adapters/cel/policy-features.ts';
import type { Config } from '../config/settings.ts';

export interface GovernPorts {
  readonly store: Store;
  /** What the operations are brought back from. */
  readonly opsLog: Pick<Store, 'after' | 'receipts'>;
  readonly snapshot: Snapshot;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly sha256: (text: string) => string;
  /** Told after each commit: what went wrong, if anything, and how long it took. */
  readonly onCommit: (error: unknown, seconds: number) => void;
  readonly onSubscriberError: (error: unknown) => void;
  /** Told of every step of a control. */
  readonly onControlStep: OnControlStep;
}

export interface Governed {
  readonly gov: Governance;
  readonly events: EventBus<DomainEvent>;
  readonly eventLog: EventLog;
  readonly balances: BalanceKeeper;
  readonly tally: DecisionTally;
}

const noMark = { seq: 0, timeZone: 'UTC' };

/** Puts the state of the gateway together from what its store remembers. */
export async function govern(config: Config, ports: GovernPorts): Promise<Governed> {
  const { store, snapshot, clock, randomness, sha256 } = ports;
  const balancesMark = snapshot.balancesMark ?? noMark;
  const events = new EventBus<DomainEvent>(ports.onSubscriberError);
  let startedAt = 0;
  const journal = new Journal<Change, DomainEvent>(
    {
      commit: (batch) => {
        startedAt = clock.elapsed();
        return store.commit(batch);
      },
      soon: setImmediate,
      seal: sealer(sha256),
      publish: (batch) => events.publish(batch),
      onCommit: (error) => ports.onCommit(error, (clock.elapsed() - startedAt) / 1000),
    },
    snapshot.head,
  );
  const isFirstRun = snapshot.eventIdsReserved === 0 || config.databaseUrl === 'memory:';
  const eventLog = new EventLog(journal, snapshot.eventIdsReserved, isFirstRun);
  events.subscribe((batch) => eventLog.append(batch));
  const tally = new DecisionTally(clock.now());
  events.subscribe((batch) => tally.follow(batch));
  const directory = new AgentDirectory();
  const ops = new OpsRegistry(clock, config.opsTtlSecs * 1000);
  const gov = governanceOf({
    keys: new KeyRing(clock, sha256, snapshot.apiKeys),
    directory,
    ops,
    ledger: new Ledger(clock, budgetPolicy({ ...noBudgets, timeZone: balancesMark.timeZone })),
    mostActionMicros: config.maxActionCostMicros,
    runs: new RunTally(),
    control: new ControlRegistry({
      ops,
      directory,
      clock,
      reader: store,
      settings: { ackMs: config.controlAckSecs * 1000, strict: config.controlStrict },
      onStep: ports.onControlStep,
    }),
    approvals: new ApprovalRegistry({
      reader: store.approvals,
      clock,
      settings: { ttlMs: config.approvalTtlSecs * 1000, notifies: config.approvalWebhookUrl !== undefined },
    }),
    journal,
    clock,
    randomness,
    sha256,
    policies: new PolicySet([], policyVersion(sha256, [])),
    policyRegistry: new PolicyRegistry(store.policies, policyFeatures),
  });
  for (const agent of snapshot.agents) gov.directory.put(agent, agent.registeredAt);
  gov.policyRegistry.restore(await withWriters(gov, snapshot.policies));
  const fold = await recoverBalances(snapshot.balances, balancesMark, ports.opsLog);
  for (const balance of fold.all()) gov.ledger.restore(balance);
  const balances = new BalanceKeeper(gov, fold, balancesMark.seq);
  events.subscribe((batch) => balances.follow(batch));
  if (!config.opsDurable) {
    journal.write({ kind: 'ops_forgotten' });
  } else if (snapshot.opsReplayFrom === null) {
    journal.write({ kind: 'ops_replay_from', seq: snapshot.head.seq });
  } else {
    await recoverOps(gov, snapshot.ops, ports.opsLog, snapshot.opsReplayFrom);
  }
  restoreControl(gov, snapshot);
  restoreApprovals(gov, snapshot);
  await journal.committed();
  return { gov, events, eventLog, balances, tally };
}
