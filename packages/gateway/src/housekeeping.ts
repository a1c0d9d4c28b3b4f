import type { Access, AuditReader, BooksKeeper, Governance, Store } from '@reeve/core';
import {
  cutLog,
  expireUnchecked,
  followClock,
  lastCut,
  LeaseWatch,
  OpsCheckpoint,
  StaleWatch,
  sweepOps,
  timeOutControls,
} from '@reeve/core';
import type { Config } from './config/settings.ts';
import type { Logger } from './telemetry/logger.ts';
import type { Metrics } from './telemetry/metrics.ts';

const rowsPerTurn = 200;
const opsPerTurn = 1000;
/** Where each is an entry of the log. */
const opsPerStep = 100;
const entriesPerTurn = 2000;
const receiptsPerTurn = 50;
const receiptsPerTick = 500;

/** How long a settled receipt can be read. */
const receiptsKeptMs = 30 * 86_400_000;
/** How often to look for controls that were not acknowledged in time. */
const controlEveryMs = 250;

export interface Housekeeping {
  readonly access: Access;
  readonly store: Store;
  readonly reader: AuditReader;
  /** Up to which entry the log may be cut, given how far this gateway needs it. */
  readonly neededFrom: (own: number) => Promise<number>;
  readonly books: BooksKeeper;
  readonly logger: Logger;
  readonly metrics: Pick<Metrics, 'reservationReleased' | 'opsExpired'>;
}

/** What is done between decisions, in small steps: sweeping, saving what lives long, giving up what is too old. */
export function startHousekeeping(config: Config, ports: Housekeeping): () => void {
  const { access, logger } = ports;
  const { gov } = access;
  const tickMs = config.opsSweepTickSecs * 1000;
  const checkpoint = new OpsCheckpoint(gov, tickMs, config.opsTtlSecs * 1000);
  const sweep = inSteps(gov, () => sweepOps(gov, opsPerTurn) === opsPerTurn);
  const expire = inSteps(gov, () => {
    const expired = expireUnchecked(gov, config.opsPendingTtlSecs * 1000, opsPerStep);
    ports.metrics.opsExpired(expired);
    return expired === opsPerStep;
  });
  const save = inSteps(
    gov,
    () => checkpoint.step(rowsPerTurn),
    () => checkpoint.advance(),
  );
  const saveBooks = inSteps(gov, () => ports.books.save(rowsPerTurn));
  const retain = retention(config, ports, () =>
    Math.min(ports.books.neededFrom, config.opsDurable ? checkpoint.replayFrom : gov.journal.head.seq),
  );
  const saveUses = () => {
    for (const { id, lastUsedAt } of access.keys.takeUsed()) {
      if (lastUsedAt !== null) gov.journal.write({ kind: 'api_key_used', id, at: lastUsedAt });
    }
  };
  const timer = setInterval(() => {
    sweep();
    expire();
    saveUses();
    if (config.opsDurable) save();
    if (followClock(gov)) logger.warn('the clock had been ahead: budgets are back on the day that it shows');
    saveBooks();
    gov.journal.write({ kind: 'receipts_removed', before: gov.clock.now() - receiptsKeptMs, most: receiptsPerTick });
    retain().catch((error: unknown) => logger.error({ err: error }, 'the audit log could not be cut'));
  }, tickMs);
  const stopWatching = watchAgents(config, gov, () => ports.metrics.reservationReleased());
  return () => {
    clearInterval(timer);
    stopWatching();
    saveUses();
  };
}

/** Looks for agents that owe an acknowledgement, and for those that have fallen silent or vanished. */
function watchAgents(config: Config, gov: Governance, onRelease: () => void): () => void {
  const staleMs = config.opsStaleSecs * 1000;
  const staleWatch = new StaleWatch(gov, staleMs);
  const timeOut = inSteps(gov, () => timeOutControls(gov, receiptsPerTurn) === receiptsPerTurn);
  const lookForSilent = inSteps(gov, () => staleWatch.step(opsPerTurn));
  const timers = [
    setInterval(timeOut, controlEveryMs),
    setInterval(lookForSilent, Math.min(10_000, Math.max(controlEveryMs, staleMs / 10))),
  ];
  const leaseMs = config.reservationLeaseSecs * 1000;
  if (leaseMs > 0) {
    const leaseWatch = new LeaseWatch(gov, leaseMs, onRelease);
    const lookForVanished = inSteps(gov, () => leaseWatch.step(opsPerStep));
    timers.push(setInterval(lookForVanished, Math.min(10_000, Math.max(controlEveryMs, leaseMs / 10))));
  }
  return () => timers.forEach((timer) => clearInterval(timer));
}

/**
 * Does `step` once a turn of the event loop for as long as there is more to do, and `then` what follows. Where a step
 * cannot be made durable, the rest waits for the next time: there would always be more to do.
 */
function inSteps(gov: Governance, step: () => boolean, then: () => void = () => undefined): () => void {
  let busy = false;
  const turn = () => {
    busy = step();
    if (!busy) then();
    else {
      gov.journal.committed().then(
        () => setImmediate(turn),
        () => {
          busy = false;
        },
      );
    }
  };
  return () => {
    if (!busy) turn();
  };
}

/** How often entries are looked at for their age: each cut is an entry, so not at every tick. */
const ageEveryMs = 3_600_000;

function retention(config: Config, ports: Housekeeping, neededFrom: () => number): () => Promise<void> {
  const { access, store, reader, logger } = ports;
  const { gov } = access;
  const maxAgeMs = config.auditRetainDays === 0 ? null : config.auditRetainDays * 86_400_000;
  const maxEntries = config.auditRetainEntries === 0 ? null : config.auditRetainEntries;
  if (maxAgeMs === null && maxEntries === null) return () => Promise.resolve();
  let busy = false;
  let resumed = false;
  let ageDueAt = 0;
  const cut = async (): Promise<number | undefined> => {
    // A removal that the end of the process has interrupted is finished first.
    if (!resumed) {
      resumed = true;
      return lastCut(reader);
    }
    const ageDue = gov.clock.elapsed() >= ageDueAt;
    if (ageDue) ageDueAt = gov.clock.elapsed() + ageEveryMs;
    const needed = await ports.neededFrom(neededFrom());
    return cutLog(access, { store, reader }, { maxAgeMs: ageDue ? maxAgeMs : null, maxEntries }, needed);
  };
  return async () => {
    if (busy) return;
    busy = true;
    try {
      const through = await cut();
      if (through === undefined) return;
      const removed = await remove(gov, store, through);
      if (removed) logger.info({ through }, 'the audit log was cut');
    } finally {
      busy = false;
    }
  };
}

/** In steps, so that no turn of the event loop takes long; false where there was nothing to remove. */
async function remove(gov: Governance, store: Store, through: number): Promise<boolean> {
  for (let removed = false; ; removed = true) {
    const [first] = await store.after(0, 1);
    if (first === undefined || first.seq > through) return removed;
    gov.journal.write({ kind: 'entries_removed', through: Math.min(through, first.seq + entriesPerTurn) });
    await gov.journal.committed();
  }
}
