/** A copy of the object, of the same class, with other methods. What was given stays as it is. */
export function copyWith<Target extends object>(target: Target, methods: object): Target {
  const own = Object.getOwnPropertyDescriptors(target);
  const replaced = Object.getOwnPropertyDescriptors(methods);
  return Object.create(Object.getPrototypeOf(target) as object | null, { ...own, ...replaced }) as Target;
}

/** The object with other methods, for classes with private members: all other ones run on what was given. */
export function standInFor<Target extends object>(target: Target, methods: Readonly<Record<string, unknown>>): Target {
  return new Proxy(target, {
    get(_, name) {
      if (typeof name === 'string' && Object.hasOwn(methods, name)) return methods[name];
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
    set: (_, name, value) => Reflect.set(target, name, value, target),
  });
}
