import { RecentMap } from './recent-map.ts';

/** As many as act at a time, of a million that may be there. */
const mostRemembered = 10_000;

/** Remembers what was made of the objects that were asked for last. They never change. */
export function rememberingRecent<Value extends object, Made extends object | string>(
  make: (value: Value) => Made,
  most = mostRemembered,
): (value: Value) => Made {
  const known = new RecentMap<Made, Value>(most);
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = make(value);
    known.set(value, made);
    return made;
  };
}
