/**
 * What a request of a user names to the letter: addresses, accounts, pages, and what stands in quotes. It is taken from the
 * request alone, by rules that know no task, and nothing is guessed: what is said in other words is not named.
 */
export function taskNames(request: string): readonly string[] {
  const named = patterns.flatMap((pattern) => [...request.matchAll(pattern)].map((match) => match[1] ?? match[0]));
  return [...new Set(named)];
}

const patterns: readonly RegExp[] = [
  /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g,
  /\b[A-Z]{2}[0-9]{2}[A-Z0-9]{8,30}\b/g,
  /(?:https?:\/\/|\bwww\.)[^\s'"<>()]*[\w/]/g,
  /(?<!\w)'([^'\n]{1,200})'(?!\w)/g,
  /(?<!\w)"([^"\n]{1,200})"(?!\w)/g,
];
