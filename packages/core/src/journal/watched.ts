/**
 * What rules get of a part of memory where other gateways write, too: the same, except that reading notes what was read.
 * `seen` has every member that rules may read. One that is missing does not compile.
 */
export function watched<Whole extends object>(whole: Whole, seen: object): Whole {
  const members: PropertyDescriptorMap = {};
  for (
    let at: object | null = whole;
    at !== null && at !== Object.prototype;
    at = Object.getPrototypeOf(at) as object
  ) {
    for (const name of Object.getOwnPropertyNames(at)) members[name] ??= forwarded(whole, name as keyof Whole);
  }
  return Object.defineProperties({}, { ...members, ...Object.getOwnPropertyDescriptors(seen) }) as Whole;
}

function forwarded<Whole extends object>(whole: Whole, name: keyof Whole): PropertyDescriptor {
  const value: unknown = whole[name];
  if (typeof value === 'function') return { value: (value as (...args: never[]) => unknown).bind(whole) };
  return {
    get: () => whole[name],
    set: (next: Whole[keyof Whole]) => {
      whole[name] = next;
    },
  };
}

/** Notes each of many as it is looked at. */
export function* eachNoted<Item>(items: Iterable<Item>, note: (item: Item) => void): Generator<Item> {
  for (const item of items) {
    note(item);
    yield item;
  }
}
