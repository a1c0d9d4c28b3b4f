import type { Turn } from './turn.ts';

/** How many calls of a connection that is gone are ended at once. */
const portion = 64;

/** Ends all calls. Many are ended in portions, so that others have their turn in between. */
export function closeInPortions<Call>(turn: Turn, calls: ReadonlyMap<number, Call>, close: (call: Call) => void): void {
  const closeSome = (count: number) => {
    let left = count;
    for (const call of calls.values()) {
      if (left-- <= 0) return;
      close(call);
    }
  };
  const closeLater = () => {
    const isQueued = turn.queue(() => {
      turn.spend(portion);
      closeSome(portion);
      if (calls.size > 0) closeLater();
    });
    if (!isQueued) closeSome(calls.size);
  };
  if (calls.size > portion) closeLater();
  else closeSome(portion);
}
