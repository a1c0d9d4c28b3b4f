import type { Access, AuditReader, Governance, Store } from '@reeve/core';
import {
  credentialEnded,
  cutLog,
  endLapsedDelegations,
  expireUnchecked,
  factsNeededFrom,
  followClock,
  forgetDepartures,
  forgetEndedDelegations,
  lastCut,
  LeftAgentsSweep,
  Listening,
  ReservationReaper,
  OpsCheckpoint,
  saveUses,
  StaleWatch,
  settleSuspensions,
  sweepOps,
  timeOutControls,
  ownWork,
} from '@reeve/core';
import type { Config } from '../config/settings.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import { Rounds } from './rounds.ts';

const rowsPerTurn = 100;
/** The row of an operation, its fact and its commit take some 50 µs on a slow core, and no turn should take 5 ms. */
const opRowsPerTurn = 40;
const opsPerTurn = 1000;
/** For steps in which each operation writes an entry. */
const opsPerStep = 100;
const entriesPerTurn = 2000;
/** A commit under load holds hundreds of decisions, and takes as long to remove as to write. */
const commitsPerTurn = 20;
const receiptsPerTurn = 50;
const receiptsPerTick = 500;

/** How long a settled receipt can be read. */
const receiptsKeptMs = 30 * 86_400_000;
/** How often to write how some of the agents use the gateway: of one after the other, however many there are. */
const usesEveryMs = 1000;
const usesPerTurn = 1000;
/** A stop does not wait for more. What is lost is a time of last use, which the agent's next check renews. */
const mostUsesAtStop = 20_000;
/** Between steps of saving balances. A save for 100,000 agents takes a hundred seconds. */
const balancesPauseMs = 100;
/** How often to notice that the gateway is awake and hears the others. */
const listenEveryMs = 250;
/** How often to look for controls that were not acknowledged in time. */
const controlEveryMs = 250;
/** How often to look for delegations that are over by time. Until then their tokens are refused when they are used. */
const delegationsEveryMs = 250;
const delegationsPerTurn = 10;

export interface Housekeeping {
  readonly gov: Governance;
  readonly access: Access;
  readonly store: Store;
  readonly reader: AuditReader;
  /** Whether this gateway does the work that one of several on the same store must do. */
  readonly leads: () => boolean;
  /** Whether all other gateways on the store are heard, so that nobody is taken for silent who spoke to them. */
  readonly hearsAll: () => boolean;
  /** Retention keeps what comes after this entry, because a target of the log does not have it yet. */
  readonly forwardedThrough: () => number;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'reservationReleased' | 'opsExpired'>;
}

/** The work between decisions, in small steps: sweeping, saving long-lived operations, and retention. */
export function startHousekeeping(config: Config, ports: Housekeeping): () => Promise<void> {
  const { gov, access, logger } = ports;
  const rounds = new Rounds((error) => logger.error({ err: error }, 'housekeeping failed; it is tried again'));
  const tickMs = config.opsSweepTickSecs * 1000;
  const ttlMs = config.opsTtlSecs * 1000;
  // A restart replays what happened within the time to live anyway, so a row pays only for what lives longer.
  const checkpoint = new OpsCheckpoint(gov, tickMs, ttlMs, Math.max(tickMs, ttlMs));
  const { leads } = ports;
  // What agents do reaches the log, through whichever gateway. So this one can judge it whenever it was awake itself.
  const awake = new Listening(gov.clock);
  rounds.every(listenEveryMs, () => void awake.since);
  const sweep = rounds.ofTurns(gov.journal, () => sweepOps(gov, opsPerTurn) === opsPerTurn);
  const expire = rounds.ofTurns(gov.journal, () => {
    const expired = expireUnchecked(gov, config.opsPendingTtlSecs * 1000, opsPerStep, awake);
    ports.metrics.opsExpired(expired);
    return expired === opsPerStep;
  });
  const save = rounds.ofTurns(gov.journal, () => checkpoint.step(opRowsPerTurn));
  // A save takes long enough for another gateway to take the lead.
  const saveBalances = rounds.ofTurns(gov.journal, () => leads() && gov.balances.save(rowsPerTurn), balancesPauseMs);
  const saveRates = rounds.ofTurns(gov.journal, () => gov.rateKeeper.save(rowsPerTurn, leads()), balancesPauseMs);
  const saveRuns = rounds.ofTurns(gov.journal, () => gov.runKeeper.save(rowsPerTurn, leads()), balancesPauseMs);
  const neededFrom = () => factsNeededFrom(gov, config.opsDurable ? checkpoint.replayFrom : gov.journal.head.seq);
  const forgetFacts = rounds.of(async () => {
    while (!rounds.stopped && (await ports.store.forgetFacts(neededFrom(), commitsPerTurn)))
      await gov.journal.nextTurn();
  });
  const retain = retention(config, ports, rounds, () => Math.min(neededFrom(), ports.forwardedThrough()));
  const follow = rounds.ofTurns(gov.journal, () => {
    if (followClock(gov)) logger.warn('the clock had been ahead: budgets are back on the day that it shows');
    return false;
  });
  const saveKeyUses = () => {
    for (const use of access.keys.unwritten()) gov.journal.apply({ kind: 'api_key_used', ...use });
  };
  const forgetDelegations = rounds.ofTurns(gov.journal, () => forgetEndedDelegations(gov, rowsPerTurn) === rowsPerTurn);
  const leftAgents = new LeftAgentsSweep(gov);
  const forgetLeft = rounds.ofTurns(gov.journal, () => leftAgents.step(rowsPerTurn));
  const settle = rounds.of(() => settleSuspensions(gov));
  const forget = rounds.of(() => forgetDepartures(gov));
  rounds.every(tickMs, () => {
    sweep();
    saveKeyUses();
    saveRates();
    saveRuns();
    if (!leads()) return;
    expire();
    if (config.opsDurable) save();
    follow();
    saveBalances();
    forgetFacts();
    gov.journal.apply({ kind: 'receipts_removed', before: gov.clock.now() - receiptsKeptMs, most: receiptsPerTick });
    retain();
    settle();
    forget();
    forgetDelegations();
    forgetLeft();
  });
  const saveAgentUses = rounds.ofTurns(gov.journal, () => {
    saveUses(gov, rowsPerTurn);
    return false;
  });
  rounds.every(usesEveryMs, () => {
    gov.control.endUnproven(credentialEnded);
    if (!gov.directory.used.isEmpty) saveAgentUses();
  });
  watchAgents(config, ports, rounds, awake);
  return async () => {
    await rounds.stop();
    saveKeyUses();
    await saveAllUses(gov);
  };
}

/** Writes at a stop how agents used the gateway, in steps. If one cannot be written, the rest is lost. */
async function saveAllUses(gov: Governance): Promise<void> {
  for (let left = mostUsesAtStop; left > 0; left -= usesPerTurn) {
    const hasMore = await gov.journal.turn(ownWork, () => saveUses(gov, usesPerTurn)).catch(() => false);
    if (!hasMore) return;
  }
}

/** Looks for agents that owe an acknowledgement, and for those that are silent or gone. */
function watchAgents(config: Config, ports: Housekeeping, rounds: Rounds, awake: Listening): void {
  const { gov, metrics, leads, hearsAll } = ports;
  // Signs of life are only told: whoever missed some takes living agents for silent.
  const listening = new Listening(gov.clock, hearsAll);
  rounds.every(listenEveryMs, () => void listening.since);
  const staleMs = config.opsStaleSecs * 1000;
  const staleWatch = new StaleWatch(gov, staleMs, listening);
  rounds.every(
    controlEveryMs,
    rounds.ofTurns(gov.journal, () => leads() && timeOutControls(gov, receiptsPerTurn, awake) === receiptsPerTurn),
  );
  rounds.every(
    delegationsEveryMs,
    rounds.ofTurns(gov.journal, () => leads() && endLapsedDelegations(gov, delegationsPerTurn) === delegationsPerTurn),
  );
  rounds.every(
    Math.min(10_000, Math.max(controlEveryMs, staleMs / 10)),
    rounds.ofTurns(gov.journal, () => leads() && staleWatch.step(opsPerTurn)),
  );
  const leaseMs = config.reservationLeaseSecs * 1000;
  if (leaseMs === 0) return;
  const reservationReaper = new ReservationReaper(gov, leaseMs, listening, () => metrics.reservationReleased());
  rounds.every(
    Math.min(10_000, Math.max(controlEveryMs, leaseMs / 10)),
    rounds.ofTurns(gov.journal, () => leads() && reservationReaper.step(opsPerStep)),
  );
}

/** How often retention looks at the age of entries. Each cut writes an entry, so not at every tick. */
const ageEveryMs = 3_600_000;

function retention(config: Config, ports: Housekeeping, rounds: Rounds, neededFrom: () => number): () => void {
  const { gov, access, store, reader, logger } = ports;
  const maxAgeMs = config.auditRetainDays === 0 ? null : config.auditRetainDays * 86_400_000;
  const maxEntries = config.auditRetainEntries === 0 ? null : config.auditRetainEntries;
  if (maxAgeMs === null && maxEntries === null) return () => undefined;
  let resumed = false;
  let ageDueAt = 0;
  const cut = async (): Promise<number | undefined> => {
    // First finish a removal that the end of the process interrupted.
    if (!resumed) {
      resumed = true;
      return lastCut(reader);
    }
    const ageDue = gov.clock.elapsed() >= ageDueAt;
    if (ageDue) ageDueAt = gov.clock.elapsed() + ageEveryMs;
    return cutLog(access, { store, reader }, { maxAgeMs: ageDue ? maxAgeMs : null, maxEntries }, neededFrom());
  };
  return rounds.of(async () => {
    try {
      const through = await cut();
      if (through === undefined) return;
      const removed = await remove(gov, store, through, rounds);
      if (removed) logger.info({ through }, 'the audit log was cut');
    } catch (error) {
      logger.error({ err: error }, 'the audit log could not be cut');
    }
  });
}

/** Removes in steps, so that no turn of the event loop takes long; false if there was nothing to remove. */
async function remove(gov: Governance, store: Store, through: number, rounds: Rounds): Promise<boolean> {
  // After a stop, the next start removes the rest.
  for (let removed = false; ; removed = true) {
    if (rounds.stopped) return false;
    const [first] = await store.after(0, 1);
    if (first === undefined || first.seq > through) return removed;
    gov.journal.apply({ kind: 'entries_removed', through: Math.min(through, first.seq + entriesPerTurn) });
    await gov.journal.committed();
  }
}
