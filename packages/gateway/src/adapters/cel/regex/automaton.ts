import { assertions } from './pattern.ts';
import type { Program } from './program.ts';
import { mostInstructions, operation } from './program.ts';
import type { Side } from './steps.ts';
import { argumentAt, holds, nextAt, operationAt, sideOf } from './steps.ts';

/** Characters that the pattern does not tell apart. */
export interface CharClass {
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
export const placesOfEmptyState = 16;
const mostCharacters = 4096;
const chunk = 1024;
const lastRound = 0xffff_ffff;
const noSets = new Uint8Array(0);
/** Which places the current step has seen. Only one step runs at a time, so all automatons share this. */
export const seen = new Uint32Array(mostInstructions);
let round = 0;

/** In units of cost. */
const priceOfStart = 20;
export const priceOfCharacter = 0.75;
export const priceOfPlace = 8;

/**
 * Tells whether a text matches anywhere, in time linear in the text: it follows all ways through the pattern at once
 * and remembers states. It charges each step before taking it.
 */
export class Automaton {
  protected readonly program: Program;
  protected readonly asks: boolean;
  readonly #anchored: boolean;
  readonly #classes: CharClass[] = [];
  readonly #classKeys = new Map<string, number>();
  readonly #asciiClasses = new Int32Array(128).fill(-1);
  readonly #otherClasses = new Map<number, number>();
  readonly #states = new Map<string, State>();
  #first: State | undefined;
  #places = 0;
  readonly #memory = { forget: () => this.forget() };

  constructor(program: Program) {
    this.program = program;
    this.asks = places(program).some((place) => operationAt(program, place) === operation.assert);
    this.#anchored = this.#startsAtStart();
  }

  matches(text: string, charge: (units: number) => void): boolean {
    return this.firstEnd(text, 0, charge) >= 0;
  }

  /** Where the match ends that ends first, of those that begin at a place or after it. Negative if there is none. */
  protected firstEnd(text: string, from: number, charge: (units: number) => void): number {
    const asciiClasses = this.#asciiClasses;
    const { length } = text;
    let state = this.#firstAt(text, from);
    let paid = from;
    for (let at = from; at < length; at++) {
      if (at >= paid) {
        const ahead = Math.min(chunk, length - at);
        charge(priceOfStart + ahead * priceOfCharacter);
        paid = at + ahead;
      }
      const here = at;
      let code = text.charCodeAt(at);
      let charClass = code < 128 ? asciiClasses[code] : undefined;
      if (charClass === undefined || charClass < 0) {
        code = text.codePointAt(at) ?? code;
        if (code > 0xffff) at++;
        charClass = this.#otherClasses.get(code) ?? this.#classify(code, charge);
      }
      const next = state.next[charClass] ?? this.#advance(state, charClass, charge);
      if (next === matched) return here;
      if (next === lost) return -1;
      state = next;
    }
    state.matchesAtEnd ??= this.#reach(state, 'edge', charge) === undefined;
    return state.matchesAtEnd ? length : -1;
  }

  #firstAt(text: string, from: number): State {
    if (from > 0) return this.#state([this.program.start], this.sideBefore(text, from));
    this.#first ??= this.#state([this.program.start], this.sideBefore(text, 0));
    return this.#first;
  }

  /** What stands before a place; always `other` where the pattern has no assertions. */
  protected sideBefore(text: string, at: number): Side {
    if (!this.asks) return 'other';
    return at === 0 ? 'edge' : sideOf(text.charCodeAt(at - 1));
  }

  /** The class of a character. */
  protected classOf(code: number, charge: (units: number) => void): number {
    const known = code < 128 ? (this.#asciiClasses[code] ?? -1) : (this.#otherClasses.get(code) ?? -1);
    return known < 0 ? this.#classify(code, charge) : known;
  }

  protected membersOf(charClass: number): CharClass {
    return this.#classes[charClass] ?? { in: noSets, side: 'other' };
  }

  #advance(state: State, charClass: number, charge: (units: number) => void): State {
    const { in: inSet, side } = this.membersOf(charClass);
    const takers = this.#reach(state, side, charge);
    if (takers === undefined) {
      state.next[charClass] = matched;
      return matched;
    }
    const program = this.program;
    const places = this.#anchored ? [] : [program.start];
    for (const taker of takers) {
      if (inSet[argumentAt(program, taker)] === 1) places.push(nextAt(program, taker));
    }
    charge((takers.length + places.length) * priceOfPlace);
    const next = places.length === 0 ? lost : this.#state(places, this.asks ? side : 'other');
    state.next[charClass] = next;
    return next;
  }

  /** The instructions that wait for a character, given the side ahead; undefined where a match is reached. */
  #reach(state: State, ahead: Side, charge: (units: number) => void): number[] | undefined {
    const takers: number[] = [];
    const program = this.program;
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
    this.makeRoom(sorted.length + placesOfEmptyState);
    const state: State = { places: sorted, before, next: [], matchesAtEnd: undefined };
    this.#states.set(key, state);
    return state;
  }

  /** Makes room before something is remembered. One automaton runs at a time, so any other can forget. */
  protected makeRoom(places: number): void {
    if (this.#places + places > mostPlaces) this.forget();
    this.#places += places;
    placesOfAll += places;
    remembering.add(this.#memory);
    for (const oldest of remembering) {
      if (placesOfAll <= mostPlacesOfAll) return;
      if (oldest !== this.#memory) oldest.forget();
    }
  }

  /** States point at each other. Dropped states live on only while a match uses them. */
  protected forget(): void {
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
    charge(30 + 20 * this.program.sets.length);
    const { sets } = this.program;
    const inSet = Uint8Array.from(sets, (set) => Number(set.has(code)));
    const side = this.asks ? sideOf(code) : 'other';
    const key = `${side}:${inSet.join('')}`;
    // Make room before the lookup, because that may forget classes, too.
    this.makeRoom(placesOfCharacter + (this.#classKeys.has(key) ? 0 : placesOfEmptyState + sets.length / 8));
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
    const program = this.program;
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
export function nextRound(): number {
  if (round === lastRound) {
    seen.fill(0);
    round = 0;
  }
  return ++round;
}

function places({ size }: Program): number[] {
  return Array.from({ length: size }, (_, place) => place);
}
