const passedOn = new Set(['PATH', 'HOME', 'USER', 'LANG', 'TERM', 'TZ', 'COLORTERM']);

/** What the program sees of the environment. Keys of the person are not there unless they are named. */
export function jailEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  named: readonly string[],
): Readonly<Record<string, string>> {
  const isPassedOn = (name: string) => passedOn.has(name) || name.startsWith('LC_') || named.includes(name);
  return Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) => (value !== undefined && isPassedOn(name) ? [[name, value]] : [])),
  );
}
