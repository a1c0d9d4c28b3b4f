import { newline, wordCharacter } from './char-set.ts';
import type { Assertion } from './pattern.ts';
import { assertions } from './pattern.ts';
import type { Program } from './program.ts';
import { mostInstructions, operation } from './program.ts';

/** The character on one side of a place in a text. */
type Side = 'edge' | 'word' | 'newline' | 'other';

/** Characters that the pattern does not tell apart. */
interface CharClass {
  /** For each set of the pattern, 1 if these characters are in it. */
  readonly in: Uint8Array;
  readonly side: Side;
}

/** The places where the automaton is at once. The next states are computed when they are first needed. */
interface State {
  readonly places: readonly number[];
  /** The side before; always `other` where the pattern has no assertions. */
  readonly before: Side;
  /** Indexed by the class of the next character. */
  readonly next: (State | undefined)[];
  matchesAtEnd: boolean | undefined;
}

const matched: State = { places: [], before: 'other', next: [], matchesAtEnd: true };
/** No continuation can match. */
const lost: State = { places: [], before: 'other', next: [], matchesAtEnd: false };
/** How much one automaton remembers, in places: states, characters and character classes. */
const mostPlaces = 50_000;
/**
 * How much all automatons remember together, about 20 bytes per place: a tenant may have thousands of them. The
 * automaton that began first forgets first.
 */
const mostPlacesOfAll = 2_000_000;
const remembering = new Set<{ forget: () => void }>();
let placesOfAll = 0;
const placesOfCharacter = 4;
const placesOfEmptyState = 16;
const mostCharacters = 4096;
const chunk = 1024;
const lastRound = 0xffff_ffff;
const noSets = new Uint8Array(0);
/** Which places the current step has seen. Only one step runs at a time, so all automatons share this. */
const seen = new Uint32Array(mostInstructions);
let round = 0;

/** In units of cost. */
const priceOfStart = 20;
const priceOfCharacter = 0.75;
const priceOfPlace = 8;

/**
 * Tells whether a text matches anywhere, in time linear in the text: it follows all ways through the pattern at once
 * and remembers states. It charges each step before taking it.
 */
export class Automaton {
  readonly #program: Program;
  readonly #asks: boolean;
  readonly #anchored: boolean;
  readonly #classes: CharClass[] = [];
  readonly #classKeys = new Map<string, number>();
  readonly #asciiClasses = new Int32Array(128).fill(-1);
  readonly #otherClasses = new Map<number, number>();
  readonly #states = new Map<string, State>();
  #first: State | undefined;
  #places = 0;
  readonly #memory = { forget: () => this.#forget() };

  constructor(program: Program) {
    this.#program = program;
    this.#asks = places(program).some((place) => operationAt(program, place) === operation.assert);
    this.#anchored = this.#startsAtStart();
  }

  matches(text: string, charge: (units: number) => void): boolean {
    const asciiClasses = this.#asciiClasses;
    const { length } = text;
    this.#first ??= this.#state([this.#program.start], this.#asks ? 'edge' : 'other');
    let state = this.#first;
    let paid = 0;
    for (let at = 0; at < length; at++) {
      if (at >= paid) {
        charge(priceOfStart + Math.min(chunk, length - at) * priceOfCharacter);
        paid += chunk;
      }
      let code = text.charCodeAt(at);
      let charClass = code < 128 ? asciiClasses[code] : undefined;
      if (charClass === undefined || charClass < 0) {
        code = text.codePointAt(at) ?? code;
        if (code > 0xffff) at++;
        charClass = this.#otherClasses.get(code) ?? this.#classify(code, charge);
      }
      const next = state.next[charClass] ?? this.#advance(state, charClass, charge);
      if (next === matched) return true;
      if (next === lost) return false;
      state = next;
    }
    state.matchesAtEnd ??= this.#reach(state, 'edge', charge) === undefined;
    return state.matchesAtEnd;
  }

  #advance(state: State, charClass: number, charge: (units: number) => void): State {
    const { in: inSet, side } = this.#classes[charClass] ?? { in: noSets, side: 'other' };
    const takers = this.#reach(state, side, charge);
    if (takers === undefined) {
      state.next[charClass] = matched;
      return matched;
    }
    const program = this.#program;
    const places = this.#anchored ? [] : [program.start];
    for (const taker of takers) {
      if (inSet[argumentAt(program, taker)] === 1) places.push(nextAt(program, taker));
    }
    charge((takers.length + places.length) * priceOfPlace);
    const next = places.length === 0 ? lost : this.#state(places, this.#asks ? side : 'other');
    state.next[charClass] = next;
    return next;
  }

  /** The instructions that wait for a character, given the side ahead; undefined where a match is reached. */
  #reach(state: State, ahead: Side, charge: (units: number) => void): number[] | undefined {
    const takers: number[] = [];
    const program = this.#program;
    const present = nextRound();
    const stack = [...state.places];
    let found = false;
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (seen[place] === present) continue;
      seen[place] = present;
      charge(priceOfPlace);
      const kind = operationAt(program, place);
      if (kind === operation.match) found = true;
      else if (kind === operation.take) takers.push(place);
      else if (kind === operation.fork) stack.push(nextAt(program, place), argumentAt(program, place));
      else if (holds(assertions[argumentAt(program, place)], state.before, ahead)) stack.push(nextAt(program, place));
    }
    return found ? undefined : takers;
  }

  #state(places: readonly number[], before: Side): State {
    const sorted = [...new Set(places)].sort((left, right) => left - right);
    const key = `${before}:${sorted.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    this.#makeRoom(sorted.length + placesOfEmptyState);
    const state: State = { places: sorted, before, next: [], matchesAtEnd: undefined };
    this.#states.set(key, state);
    return state;
  }

  /** Makes room before something is remembered. One automaton runs at a time, so any other can forget. */
  #makeRoom(places: number): void {
    if (this.#places + places > mostPlaces) this.#forget();
    this.#places += places;
    placesOfAll += places;
    remembering.add(this.#memory);
    for (const oldest of remembering) {
      if (placesOfAll <= mostPlacesOfAll) return;
      if (oldest !== this.#memory) oldest.forget();
    }
  }

  /** States point at each other. Dropped states live on only while a match uses them. */
  #forget(): void {
    for (const state of this.#states.values()) state.next.length = 0;
    this.#states.clear();
    this.#classes.length = 0;
    this.#classKeys.clear();
    this.#asciiClasses.fill(-1);
    this.#otherClasses.clear();
    this.#first = undefined;
    placesOfAll -= this.#places;
    this.#places = 0;
    remembering.delete(this.#memory);
  }

  #classify(code: number, charge: (units: number) => void): number {
    charge(30 + 20 * this.#program.sets.length);
    const { sets } = this.#program;
    const inSet = Uint8Array.from(sets, (set) => Number(set.has(code)));
    const side = this.#asks ? sideOf(code) : 'other';
    const key = `${side}:${inSet.join('')}`;
    // Make room before the lookup, because that may forget classes, too.
    this.#makeRoom(placesOfCharacter + (this.#classKeys.has(key) ? 0 : placesOfEmptyState + sets.length / 8));
    let known = this.#classKeys.get(key);
    if (known === undefined) {
      known = this.#classes.push({ in: inSet, side }) - 1;
      this.#classKeys.set(key, known);
    }
    if (code < 128) this.#asciiClasses[code] = known;
    else this.#remember(code, known);
    return known;
  }

  #remember(code: number, charClass: number): void {
    if (this.#otherClasses.size >= mostCharacters) this.#otherClasses.clear();
    this.#otherClasses.set(code, charClass);
  }

  /** Whether a match can only begin at the start of the text, so that the rest need not be searched. */
  #startsAtStart(): boolean {
    const program = this.#program;
    const stack = [program.start];
    const present = nextRound();
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (seen[place] === present) continue;
      seen[place] = present;
      const kind = operationAt(program, place);
      if (kind === operation.take || kind === operation.match) return false;
      if (kind === operation.fork) stack.push(nextAt(program, place), argumentAt(program, place));
      else if (assertions[argumentAt(program, place)] !== 'textStart') stack.push(nextAt(program, place));
    }
    return true;
  }
}

/** How much all automatons remember now, in places. */
export function remembered(): number {
  return placesOfAll;
}

/** Marks of earlier rounds need no clearing until the round numbers run out. */
function nextRound(): number {
  if (round === lastRound) {
    seen.fill(0);
    round = 0;
  }
  return ++round;
}

function places({ size }: Program): number[] {
  return Array.from({ length: size }, (_, place) => place);
}

function operationAt({ code }: Program, place: number): number {
  return (code[2 * place] ?? 0) & 3;
}

function argumentAt({ code }: Program, place: number): number {
  return (code[2 * place] ?? 0) >> 2;
}

function nextAt({ code }: Program, place: number): number {
  return code[2 * place + 1] ?? 0;
}

function sideOf(code: number): Side {
  if (wordCharacter.has(code)) return 'word';
  return newline.has(code) ? 'newline' : 'other';
}

function holds(assertion: Assertion | undefined, before: Side, after: Side): boolean {
  switch (assertion) {
    case 'textStart':
      return before === 'edge';
    case 'textEnd':
      return after === 'edge';
    case 'lineStart':
      return before === 'edge' || before === 'newline';
    case 'lineEnd':
      return after === 'edge' || after === 'newline';
    case 'wordEdge':
      return (before === 'word') !== (after === 'word');
    case 'noWordEdge':
      return (before === 'word') === (after === 'word');
    case undefined:
      return false;
  }
}
