import type { Change, DomainEvent, Governance, Snapshot } from '@reeve/core';
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
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { systemClock as clock } from '../adapters/system/system-clock.ts';
import type { StoreWatch } from '../background/store-watch.ts';
import type { Config } from '../config/settings.ts';
import type { OpenStore } from './open-store.ts';
import type { WiringContext } from './wiring-context.ts';

export interface Governed {
  readonly gov: Governance;
  readonly events: EventBus<DomainEvent>;
  readonly eventLog: EventLog;
  readonly balances: BalanceKeeper;
  readonly tally: DecisionTally;
}

const noMark = { seq: 0, timeZone: 'UTC' };

/** Opens the journal and restores the state from the store. Closing makes the last turn durable. */
export async function openGovernance(
  context: WiringContext,
  stored: OpenStore,
  snapshot: Snapshot,
  watch: StoreWatch,
): Promise<Governed> {
  const { config, logger, opened } = context;
  const events = new EventBus<DomainEvent>((error) => logger.error({ err: error }, 'a subscriber of events failed'));
  const journal = journalOn(context, stored, snapshot, events, watch);
  const isFirstRun = snapshot.eventIdsReserved === 0 || config.databaseUrl === 'memory:';
  const eventLog = new EventLog(journal, snapshot.eventIdsReserved, isFirstRun);
  events.subscribe((batch) => eventLog.append(batch));
  const tally = new DecisionTally(clock.now());
  events.subscribe((batch) => tally.follow(batch));
  const gov = emptyGovernance(context, stored, snapshot, journal);
  for (const agent of snapshot.agents) gov.directory.put(agent, agent.registeredAt);
  gov.policyRegistry.restore(await withWriters(gov, snapshot.policies));
  const balances = await restoreBalances(gov, stored, snapshot);
  events.subscribe((batch) => balances.follow(batch));
  await restoreOps(config, gov, stored, snapshot);
  restoreControl(gov, snapshot);
  restoreApprovals(gov, snapshot);
  await journal.committed();
  opened.defer(() => journal.close(), 'the journal');
  return { gov, events, eventLog, balances, tally };
}

function journalOn(
  { logger, metrics }: WiringContext,
  { store }: OpenStore,
  snapshot: Snapshot,
  events: EventBus<DomainEvent>,
  watch: StoreWatch,
): Journal<Change, DomainEvent> {
  let startedAt = 0;
  return new Journal<Change, DomainEvent>(
    {
      commit: (batch) => {
        startedAt = clock.elapsed();
        return store.commit(batch);
      },
      soon: setImmediate,
      seal: sealer(sha256),
      publish: (batch) => events.publish(batch),
      onCommit: (error) => {
        metrics.committed((clock.elapsed() - startedAt) / 1000, error !== undefined);
        watch.onCommit(error);
      },
      onError: (error) => logger.error({ err: error }, 'work after a commit failed'),
    },
    snapshot.head,
  );
}

/** The features, empty but for the keys. */
function emptyGovernance(
  { config, metrics }: WiringContext,
  { store }: OpenStore,
  snapshot: Snapshot,
  journal: Journal<Change, DomainEvent>,
): Governance {
  const directory = new AgentDirectory();
  const ops = new OpsRegistry(clock, config.opsTtlSecs * 1000);
  const { timeZone } = snapshot.balancesMark ?? noMark;
  return governanceOf({
    keys: new KeyRing(clock, sha256, snapshot.apiKeys),
    directory,
    ops,
    ledger: new Ledger(clock, budgetPolicy({ ...noBudgets, timeZone })),
    mostActionMicros: config.maxActionCostMicros,
    runs: new RunTally(),
    control: new ControlRegistry({
      ops,
      directory,
      clock,
      reader: store,
      settings: { ackMs: config.controlAckSecs * 1000, strict: config.controlStrict },
      onStep: (receipt, before) => metrics.controlled(receipt, before),
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
}

async function restoreBalances(gov: Governance, { opsLog }: OpenStore, snapshot: Snapshot): Promise<BalanceKeeper> {
  const mark = snapshot.balancesMark ?? noMark;
  const fold = await recoverBalances(snapshot.balances, mark, opsLog);
  for (const balance of fold.all()) gov.ledger.restore(balance);
  return new BalanceKeeper(gov, fold, mark.seq);
}

async function restoreOps(config: Config, gov: Governance, { opsLog }: OpenStore, snapshot: Snapshot): Promise<void> {
  if (!config.opsDurable) {
    gov.journal.write({ kind: 'ops_forgotten' });
  } else if (snapshot.opsReplayFrom === null) {
    gov.journal.write({ kind: 'ops_replay_from', seq: snapshot.head.seq });
  } else {
    await recoverOps(gov, snapshot.ops, opsLog, snapshot.opsReplayFrom);
  }
}
