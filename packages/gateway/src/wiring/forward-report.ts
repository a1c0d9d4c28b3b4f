import type { Governance } from '@reeve/core';
import { redactText } from '@reeve/core';
import { systemClock as clock } from '../adapters/system/system-clock.ts';
import type { ForwardTarget } from '../config/forward-target.ts';
import type { ForwardReport } from '../forwarding/forwarder.ts';
import type { ForwardCounters } from '../telemetry/forward-metrics.ts';
import type { WiringContext } from './wiring-context.ts';

/** How often the log says that a target still takes nothing. */
const remindEveryMs = 60_000;
const longestReason = 200;

/** Tells operators what becomes of a target, by its name without credentials. */
export function reportOn(
  { logger }: WiringContext,
  { journal }: Pick<Governance, 'journal'>,
  { name, kind }: ForwardTarget,
  place: number,
  counters: ForwardCounters,
): ForwardReport {
  let remindedAt = Number.NEGATIVE_INFINITY;
  return {
    sent: counters.sent,
    failed: (fault, failures) => {
      counters.failed();
      if (failures > 1 && clock.elapsed() - remindedAt < remindEveryMs) return;
      remindedAt = clock.elapsed();
      logger.warn(
        { target: name, fault, failures },
        'a target of the audit log does not take entries; it is tried again, and nothing waits for it',
      );
    },
    recovered: () => logger.info({ target: name }, 'a target of the audit log takes entries again'),
    missed: (from, through) => {
      counters.missed(through - from + 1);
      const gap = { from_seq: from, through_seq: through };
      logger.error(
        { target: name, ...gap },
        'retention has removed audit entries that a target did not have; it never gets them',
      );
      const details = { target: place, kind, ...gap };
      journal.apply({ type: 'audit_alert', at: clock.now(), agent: null, alert: 'forward_gap', details });
    },
    wentBack: (was, seq) =>
      logger.error(
        { target: name, sent_seq: was.seq, sent_hash: was.hash, continues_after: seq },
        'the audit log does not contain what a target was sent: the store was set back or replaced',
      ),
  };
}

/** Tells that a receiver accepted a batch and threw away a part of it. */
export function tellOfRejected({ logger }: WiringContext, { name }: ForwardTarget, counters: ForwardCounters) {
  return (entries: number, why: string): void => {
    counters.rejected(entries);
    logger.error(
      { target: name, entries, why: redactText(why.slice(0, longestReason)) },
      'a target of the audit log has thrown entries away; by its protocol they are not sent again',
    );
  };
}
