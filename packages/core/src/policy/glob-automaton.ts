/** A piece of a glob. */
export interface GlobPart {
  /** As a regular expression. */
  readonly pattern: string;
  /** For `*`, a run `within` a path's part; for `**`, `any` run. */
  readonly run?: 'within' | 'any';
  /** For a character that stands for itself. */
  readonly char?: string;
}

type Step = (char: string) => boolean;

/**
 * Follows all ways through a glob at once, character by character, so that the time is that of the text times that of
 * the glob, whatever they hold.
 */
export function automatonOf(parts: readonly GlobPart[]): (text: string) => boolean {
  const steps = parts.map(stepOf);
  const runs = parts.map((part) => part.run !== undefined);
  return (text) => {
    let places = withoutRuns([0], runs);
    for (const char of text) {
      const next: number[] = [];
      for (const place of places) {
        if (steps[place]?.(char) === true) next.push(runs[place] === true ? place : place + 1);
      }
      if (next.length === 0) return false;
      places = withoutRuns(next, runs);
    }
    return places.at(-1) === parts.length;
  };
}

function stepOf({ pattern, run, char }: GlobPart): Step {
  if (run === 'any') return () => true;
  if (run === 'within') return (here) => here !== '/';
  if (char !== undefined) return (here) => here === char;
  const regex = new RegExp(`^${pattern}$`, 'us');
  return (here) => regex.test(here);
}

/** The places, in rising order and each once, with those that an empty run leads to. */
function withoutRuns(places: readonly number[], runs: readonly boolean[]): number[] {
  const all: number[] = [];
  for (const place of places) {
    for (let reached = place; ; reached++) {
      if ((all.at(-1) ?? -1) < reached) all.push(reached);
      if (runs[reached] !== true) break;
    }
  }
  return all;
}
