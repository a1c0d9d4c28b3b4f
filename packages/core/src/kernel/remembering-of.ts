/** Remembers what was made of objects that never change and come again and again, for as long as they are there. */
export function rememberingOf<Value extends object, Made extends object | string>(
  make: (value: Value) => Made,
): (value: Value) => Made {
  const known = new WeakMap<Value, Made>();
  return (value) => {
    const before = known.get(value);
    if (before !== undefined) return before;
    const made = make(value);
    known.set(value, made);
    return made;
  };
}
