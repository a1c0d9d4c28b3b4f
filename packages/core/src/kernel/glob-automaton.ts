/** A piece of a glob. */
export interface GlobPart {
  /** For a set: what one character must match. */
  readonly set?: RegExp;
  /** For `*`, a run `within` a path's part; for `**`, `any` run. Two never stand side by side. */
  readonly run?: 'within' | 'any';
  /** For a character that stands for itself. */
  readonly char?: string;
}

/** Is told what matching costs before it is done, and may throw; a unit is about 10 ns. */
export type Charge = (units: number) => void;

type Step = (char: string) => boolean;

/** So many parts have a bit each in a number. */
const mostBits = 30;
const unitsPerStep = 0.5;
const priceOfMasks = 50;
const unitsPerPlace = 2;

/**
 * Follows all ways through a glob at once, character by character, so that the time is that of the text times that of
 * the glob at most, whatever they hold.
 */
export function automatonOf(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  return parts.length <= mostBits ? bitAutomaton(parts) : placeAutomaton(parts);
}

/** The places where the glob may be are the bits of a number, so that a character is one step for all of them. */
function bitAutomaton(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  const runs = parts.reduce((bits, { run }, at) => (run === undefined ? bits : bits | (1 << at)), 0);
  const end = 1 << parts.length;
  const start = 1 | ((1 & runs) << 1);
  let masks: CharMasks | undefined;
  return (text, charge) => {
    charge(text.length * unitsPerStep);
    if (masks === undefined) {
      charge(priceOfMasks);
      masks = new CharMasks(parts);
    }
    let places = start;
    const { ascii } = masks;
    for (let at = 0; at < text.length; at++) {
      let mask = ascii[text.charCodeAt(at)] ?? -1;
      if (mask < 0) {
        const code = text.codePointAt(at) ?? 0;
        if (code > 0xffff) at++;
        mask = masks.of(code, charge);
      }
      const taken = places & mask;
      const reached = ((taken & ~runs) << 1) | (taken & runs);
      places = reached | ((reached & runs) << 1);
      if (places === 0) return false;
    }
    return (places & end) !== 0;
  };
}

const mostCharacters = 1024;

/** Which parts take a character, worked out when it is first met. */
class CharMasks {
  readonly #steps: readonly Step[];
  /** Below 0 where it is not worked out yet. */
  readonly ascii = new Int32Array(128).fill(-1);
  readonly #others = new Map<number, number>();

  constructor(parts: readonly GlobPart[]) {
    this.#steps = parts.map(stepOf);
  }

  of(code: number, charge: Charge): number {
    return this.#others.get(code) ?? this.#make(code, charge);
  }

  #make(code: number, charge: Charge): number {
    charge(this.#steps.length * unitsPerPlace);
    const char = String.fromCodePoint(code);
    let mask = 0;
    for (const [at, step] of this.#steps.entries()) if (step(char)) mask |= 1 << at;
    if (code < 128) this.ascii[code] = mask;
    else {
      if (this.#others.size >= mostCharacters) this.#others.clear();
      this.#others.set(code, mask);
    }
    return mask;
  }
}

/** The same for globs with more parts than a number has bits. */
function placeAutomaton(parts: readonly GlobPart[]): (text: string, charge: Charge) => boolean {
  const runs = parts.map((part) => part.run !== undefined);
  let steps: readonly Step[] | undefined;
  return (text, charge) => {
    steps ??= parts.map(stepOf);
    let places = withoutRuns([0], runs);
    for (const char of text) {
      charge(places.length * unitsPerPlace);
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

function stepOf({ set, run, char }: GlobPart): Step {
  if (run === 'within') return (here) => here !== '/';
  if (char !== undefined) return (here) => here === char;
  return set === undefined ? () => true : (here) => set.test(here);
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
