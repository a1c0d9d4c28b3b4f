import { Observable, useObservable } from '../api/observable.ts';

const clocks = new Map<number, Observable<number>>();

/** The time, updated at once for everything on the page that shows it. */
export function useNow(everyMs: 100 | 1000 | 10_000 = 1000): number {
  return useObservable(clockOf(everyMs));
}

function clockOf(everyMs: number): Observable<number> {
  const known = clocks.get(everyMs);
  if (known !== undefined) return known;
  let timer: ReturnType<typeof setInterval> | undefined;
  // Ticks only while it has a listener.
  const clock = new Observable(Date.now(), (isWatched) => {
    clearInterval(timer);
    if (!isWatched) return;
    clock.set(Date.now());
    timer = setInterval(() => clock.set(Date.now()), everyMs);
  });
  clocks.set(everyMs, clock);
  return clock;
}
