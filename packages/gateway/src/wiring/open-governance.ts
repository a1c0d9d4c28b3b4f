import { randomInt } from 'node:crypto';
import type {
  AccountsAccess,
  Change,
  DomainEvent,
  Governance,
  LoadedAccess,
  Sharing,
  Snapshot,
  Unread,
} from '@reeve/core';
import {
  agentsIn,
  DecisionTally,
  emptyGovernance,
  EventBus,
  countIds,
  EventLog,
  factsOn,
  findAccountsIn,
  followCommit,
  Journal,
  parseCommit,
  prepareToFollow,
  recover,
  sealer,
  unreadDescents,
} from '@reeve/core';
import { policyFeatures } from '../adapters/cel/policy-features.ts';
import { randomness, sha256 } from '../adapters/crypto/node-crypto.ts';
import { systemClock as clock } from '../adapters/system/system-clock.ts';
import type { StoreWatch } from '../background/store-watch.ts';
import { credentialsOf } from './open-identity.ts';
import type { OpenedIssuers } from './open-issuers.ts';
import type { OpenStore, SharedStore } from './opened-store.ts';
import { startWithout, tellUnread } from './tell-unread.ts';
import type { WiringContext } from './wiring-context.ts';

export interface Governed {
  readonly gov: Governance;
  readonly events: EventBus<DomainEvent>;
  readonly eventLog: EventLog;
  readonly tally: DecisionTally;
  readonly access: AccountsAccess;
}

/** Opens the journal and restores the state from the store. Closing makes the last turn durable. */
export async function openGovernance(
  context: WiringContext,
  stored: OpenStore,
  snapshot: Snapshot,
  watch: StoreWatch,
  issuers: OpenedIssuers,
): Promise<Governed> {
  const { config, logger, opened } = context;
  const events = new EventBus<DomainEvent>((error) => logger.error({ err: error }, 'a subscriber of events failed'));
  const memory: { current?: Governance } = {};
  const journal = journalOn(context, stored, snapshot, events, watch, memory);
  const release = journal.hold();
  const gov = governanceOn(context, stored, snapshot, journal, issuers);
  memory.current = gov;
  stored.shared?.feed.know(agentsIn(gov));
  const isFirstRun = snapshot.eventIdsReserved === 0 || config.databaseUrl === 'memory:';
  // PostgreSQL counts the events of every commit.
  const countedBy = stored.membership === undefined ? journal : undefined;
  const eventLog = new EventLog(countedBy, snapshot.eventIdsReserved, isFirstRun);
  if (stored.shared !== undefined) eventLog.restore(await recentEvents(stored.shared, snapshot.eventIdsReserved));
  events.subscribe((batch) => eventLog.append(batch));
  const tally = new DecisionTally(clock.now());
  events.subscribe((batch) => tally.follow(batch));
  const access = credentialsOf(config, gov);
  const unread: Unread[] = [];
  const kept = config.opsDurable ? snapshot : { ...snapshot, opsReplayFrom: null };
  await recover(gov, kept, stored.store, (each) => unread.push(each));
  startWithout(context, gov.directory, [...snapshot.unread, ...unreadDescents(snapshot), ...unread]);
  events.subscribe((batch) => gov.balances.follow(batch));
  if (!config.opsDurable) journal.apply({ kind: 'ops_forgotten' });
  else if (snapshot.opsReplayFrom === null) journal.apply({ kind: 'ops_replay_from', seq: snapshot.head.seq });
  release();
  await journal.committed();
  opened.defer(() => journal.close(), 'the journal');
  if (stored.shared !== undefined) followOthers(context, stored.shared, journal);
  return { gov, events, eventLog, tally, access };
}

function journalOn(
  context: WiringContext,
  { store, shared, membership }: OpenStore,
  snapshot: Snapshot,
  events: EventBus<DomainEvent>,
  watch: StoreWatch,
  memory: { readonly current?: Governance },
): Journal<Change, DomainEvent> {
  const { logger, metrics } = context;
  let startedAt = 0;
  const here = (): Governance => {
    if (memory.current === undefined) throw new Error('there is no memory yet that a fact could change');
    return memory.current;
  };
  return new Journal<Change, DomainEvent>(
    {
      commit: (batch) => {
        startedAt = clock.elapsed();
        return store.commit(batch);
      },
      soon: setImmediate,
      seal: sealer(sha256),
      ...factsOn(here),
      // Another gateway may follow what this one has written alone.
      ...(membership === undefined ? {} : { isRedone: () => true }),
      publish: (batch, isForeign) => events.publish(batch, isForeign),
      onCommit: (error) => {
        metrics.committed((clock.elapsed() - startedAt) / 1000, error !== undefined);
        watch.onCommit(error);
      },
      onError: (error) => logger.error({ err: error }, 'work after a commit failed'),
      ...(shared === undefined ? {} : { sharing: sharingOf(context, shared, here) }),
    },
    snapshot.head,
  );
}

/** The features, empty but for the credentials. */
function governanceOn(
  context: WiringContext,
  { store, shared, accountStore }: OpenStore,
  snapshot: Snapshot,
  journal: Journal<Change, DomainEvent>,
  { subjects, workloads }: OpenedIssuers,
): Governance {
  const { config, metrics } = context;
  return emptyGovernance(
    {
      store,
      journal,
      clock,
      randomness,
      sha256,
      policyFeatures,
      subjects,
      agentBounds: { agents: config.maxAgentsPerOrg, bytes: config.maxAgentMibPerOrg * 1024 * 1024 },
      mostActionMicros: config.maxActionCostMicros,
      opsTtlMs: config.opsTtlSecs * 1000,
      runTtlMs: config.runTtlSecs * 1000,
      opsSeed: randomInt(2 ** 32),
      control: { ackMs: config.controlAckSecs * 1000, strict: config.controlStrict },
      approvals: { ttlMs: config.approvalTtlSecs * 1000, notifies: config.approvalWebhookUrl !== undefined },
      workloads,
      onControlStep: (receipt, before) => metrics.controlled(receipt, before),
      findAccounts: accountStore === undefined ? undefined : findAccountsIn(accountStore),
      ...(shared === undefined ? {} : { readCredentials: () => credentialsIn(context, shared, journal) }),
    },
    snapshot,
  );
}

/** How the journal works together with the other gateways on the store. */
function sharingOf(context: WiringContext, shared: SharedStore, here: () => Governance): Sharing<Change, DomainEvent> {
  const { feed } = shared;
  return {
    ready: () => feed.ready(),
    read: () => feed.read(),
    lock: () => shared.store.lock(),
    prepare: (commits) => prepareToFollow(here(), commits),
    follow: (commit) => {
      const faults = followCommit(here(), commit);
      if (faults.length > 0) tellUnread(context, faults, `a commit up to entry ${commit.head.seq}`);
    },
    failed: (error) => shared.onDiverged(error),
  };
}

/** All credentials as they are stored, what this gateway has done to them included. */
async function credentialsIn(
  context: WiringContext,
  { store }: SharedStore,
  journal: Journal<Change, DomainEvent>,
): Promise<LoadedAccess> {
  await journal.committed();
  const access = await store.loadAccess();
  tellUnread(context, [...access.unread, ...unreadDescents(access)], 'the store');
  return access;
}

/** How often to ask for commits whose message was lost, and how often if none can arrive. */
const readEveryMs = 2000;
const readAloneEveryMs = 200;

function followOthers({ opened }: WiringContext, shared: SharedStore, journal: Journal<Change, DomainEvent>): void {
  shared.onCommits = (isKnown) => {
    if (isKnown) journal.followReady();
    else void journal.catchUp();
  };
  let last = 0;
  const timer = setInterval(() => {
    const every = shared.bus.isConnected ? readEveryMs : readAloneEveryMs;
    if (clock.elapsed() - last < every) return;
    last = clock.elapsed();
    void journal.catchUp();
  }, readAloneEveryMs);
  opened.defer(() => clearInterval(timer), 'what follows other gateways');
  void journal.catchUp();
}

const mostEventBytes = 64 * 1024 * 1024;

/** The newest events up to the given count, as far as they are kept without a gap. */
async function recentEvents({ store }: SharedStore, count: number): Promise<DomainEvent[]> {
  const found: DomainEvent[][] = [];
  let end = count;
  for (const { facts, events: before } of (await store.recentCommits(mostEventBytes)).toReversed()) {
    const events = parseCommit(facts).steps.flatMap((step) => ('event' in step ? [step.event] : []));
    if (before + countIds(events) !== end) break;
    found.push(events);
    end = before;
  }
  return found.reverse().flat();
}
