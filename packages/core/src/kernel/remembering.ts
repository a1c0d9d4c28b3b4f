/** How many texts are remembered. */
const mostTexts = 1000;

interface Remembered<Made> {
  /** Longer texts are too various. */
  readonly longest: number;
  /** What may be remembered. Everything if absent. */
  readonly isKept?: (text: string, made: Made) => boolean;
}

/**
 * Remembers what was made of texts that come again and again, such as the names of tools and rules. Callers choose some of
 * them, so it begins anew when it is full.
 */
export function remembering<Made>(
  make: (text: string) => Made,
  { longest, isKept }: Remembered<Made>,
): (text: string) => Made {
  const known = new Map<string, Made>();
  return (text) => {
    if (text.length > longest) return make(text);
    const before = known.get(text);
    if (before !== undefined) return before;
    const made = make(text);
    if (isKept?.(text, made) === false) return made;
    if (known.size === mostTexts) known.clear();
    known.set(text, made);
    return made;
  };
}
