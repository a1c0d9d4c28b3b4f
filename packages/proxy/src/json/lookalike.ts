/**
 * Some readers of JSON, Go's and .NET's among them, make no difference between `name` and `Name`. What they do then need
 * not be what was judged.
 */

/** A name as such a reader sees it. As in Unicode, `ſ` is an s and the Kelvin sign a k. */
export function foldedName(name: string): string {
  return name.toUpperCase().toLowerCase();
}

/** The first name that such a reader takes for a known one, although it is another. Known ones are in lower case. */
export function lookalikeOf(names: readonly string[], known: ReadonlySet<string>): string | undefined {
  return names.find((name) => !known.has(name) && known.has(foldedName(name)));
}
