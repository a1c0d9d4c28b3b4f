import { RecentMap } from './recent-map.ts';

/** As many as act at a time, of a million that may be there. */
const mostRecent = 10_000;

/** Remembers what was made of objects that never change and come again and again, for as long as they are there. */
export function rememberingOf<Value extends object, Made extends object | string>(
  make: (value: Value) => Made,
): (value: Value) => Made {
  return rememberingIn(new WeakMap<Value, Made>(), make);
}

/**
 * The same for those that were asked for last, where a million are there. It keeps these objects in memory, so they must be small:
 * a tenant could replace large ones again and again, and no bound would count what was replaced.
 */
export function rememberingRecent<Value extends object, Made extends object | string>(
  make: (value: Value) => Made,
  most = mostRecent,
): (value: Value) => Made {
  return rememberingIn(new RecentMap<Made, Value>(most), make);
}

interface Known<Value, Made> {
  get(value: Value): Made | undefined;
  set(value: Value, made: Made): unknown;
}

function rememberingIn<Value, Made extends object | string>(
  known: Known<Value, Made>,
  make: (value: Value) => Made,
): (value: Value) => Made {
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = make(value);
    known.set(value, made);
    return made;
  };
}
