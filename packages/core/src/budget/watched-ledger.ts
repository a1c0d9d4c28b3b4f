import type { Noting } from '../journal/index.ts';
import { watched } from '../journal/index.ts';
import type { KnownBalances, Ledger } from './ledger.ts';
import type { TierOf } from './tier.ts';
import { tierKey } from './tier.ts';

/** The balance of a tier, under the name by which turns rest on it. */
export function balanceName(of: TierOf): string {
  return `balance ${tierKey(of)}`;
}

/** Not noted: the days of the clock, and the caps in force. Those change with an org, or with everything. */
type Unnoted = 'bookedTo' | 'mustGoBack' | 'policy' | 'resetsAt' | 'window' | 'windows';

/**
 * Notes what rules read of balances. Charges commute as long as they fit, so that a charge rests on the condition that it
 * still does. Everything else rests on the balances as they are: a refusal, and what somebody is told.
 */
export function watchedLedger(ledger: Ledger, journal: Noting): Ledger {
  const rest = (tiers: Iterable<TierOf>) => {
    for (const of of tiers) journal.reads({ name: balanceName(of) });
  };
  const seen: Omit<KnownBalances, Unnoted> = {
    read: (of) => {
      rest([of]);
      return ledger.read(of);
    },
    all: () => {
      const all = ledger.all();
      rest(all.map(({ of }) => of));
      return all;
    },
    exceededBy: (tiers, cost) => {
      const exceeded = ledger.exceededBy(tiers, cost);
      if (cost === 0) return exceeded;
      // If it fits only because of a release that is not durable yet, that must come first.
      if (exceeded !== undefined || !ledger.wouldSurelyFit(tiers, cost)) rest(ledger.capped(tiers));
      else {
        // Within the caps here is not enough: other gateways charge them, too.
        journal.onlyWhile((changed) =>
          tiers.some((of) => changed.has(balanceName(of)))
            ? ledger.isSurelyWithinCaps(tiers)
            : ledger.wouldSurelyFit(tiers, cost),
        );
      }
      return exceeded;
    },
    approachedBy: (tiers, delta) => {
      const approached = ledger.approachedBy(tiers, delta);
      // Each share is told once, by whichever gateway notices first. If there is nothing to tell only because of a release
      // that is not durable yet, that must come first.
      if (approached.length > 0) rest(ledger.capped(tiers));
      else if (delta.reserved > 0 || delta.settled.month > 0) {
        if (ledger.hasSurelyToldShares(tiers, delta)) journal.onlyWhile(() => ledger.hasSurelyToldShares(tiers));
        else rest(ledger.capped(tiers));
      }
      return approached;
    },
  };
  return watched(ledger, seen);
}
