/** The name that a text gives its document, as far as visible without parsing. */
export function nameIn(source: string): string | undefined {
  const found = /^name:\s*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s#'"][^#\n]*))/m.exec(source);
  return (found?.[1] ?? found?.[2] ?? found?.[3])?.trim();
}
