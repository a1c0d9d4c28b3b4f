import { newline, wordCharacter } from './char-set.ts';
import type { Assertion } from './pattern.ts';
import type { Program } from './program.ts';

/** What stands on one side of a place in a text. */
type Side = 'edge' | 'word' | 'newline' | 'other';

/** Characters that no part of the pattern tells apart. */
interface CharClass {
  readonly in: readonly boolean[];
  readonly side: Side;
}

/** Where the machine may be at once. What follows is worked out when it is first needed. */
interface State {
  readonly places: readonly number[];
  /** What stands before; always `other` where the pattern does not ask. */
  readonly before: Side;
  /** By the class of the next character. */
  readonly next: (State | undefined)[];
  matchesAtEnd: boolean | undefined;
}

const matched: State = { places: [], before: 'other', next: [], matchesAtEnd: true };
/** Nothing that follows can match. */
const lost: State = { places: [], before: 'other', next: [], matchesAtEnd: false };
/** How much is remembered: states by the places in them, and characters. */
const mostPlaces = 50_000;
const placesOfEmptyState = 16;
const mostCharacters = 4096;
const chunk = 1024;
const lastRound = 0xffff_ffff;

/** In units of cost. */
const priceOfStart = 20;
const priceOfCharacter = 0.75;
const priceOfPlace = 8;

/**
 * Tells whether a text matches anywhere, in time that grows with the text alone: the ways through the pattern are
 * followed all at once and states are remembered. What a step costs is told before it is taken.
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
  readonly #seen: Uint32Array;
  #first: State | undefined;
  #places = 0;
  #round = 0;

  constructor(program: Program) {
    this.#program = program;
    this.#asks = program.instructions.some((instruction) => instruction.kind === 'assert');
    this.#seen = new Uint32Array(program.instructions.length);
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
    const { in: inSet, side } = this.#classes[charClass] ?? { in: [], side: 'other' };
    const takers = this.#reach(state, side, charge);
    if (takers === undefined) {
      state.next[charClass] = matched;
      return matched;
    }
    const places = this.#anchored ? [] : [this.#program.start];
    for (const taker of takers) {
      const instruction = this.#program.instructions[taker];
      if (instruction?.kind === 'take' && inSet[instruction.set] === true) places.push(instruction.next);
    }
    charge((takers.length + places.length) * priceOfPlace);
    const next = places.length === 0 ? lost : this.#state(places, this.#asks ? side : 'other');
    state.next[charClass] = next;
    return next;
  }

  /** The instructions that wait for a character, with this one ahead; undefined where a match is reached. */
  #reach(state: State, ahead: Side, charge: (units: number) => void): number[] | undefined {
    const takers: number[] = [];
    const seen = this.#seen;
    const round = this.#nextRound();
    const stack = [...state.places];
    let found = false;
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (seen[place] === round) continue;
      seen[place] = round;
      charge(priceOfPlace);
      const instruction = this.#program.instructions[place];
      if (instruction === undefined) continue;
      if (instruction.kind === 'match') found = true;
      else if (instruction.kind === 'take') takers.push(place);
      else if (instruction.kind === 'fork') stack.push(instruction.next, instruction.other);
      else if (holds(instruction.assertion, state.before, ahead)) stack.push(instruction.next);
    }
    return found ? undefined : takers;
  }

  /** Marks of earlier rounds need no clearing, until the numbers run out. */
  #nextRound(): number {
    if (this.#round === lastRound) {
      this.#seen.fill(0);
      this.#round = 0;
    }
    return ++this.#round;
  }

  #state(places: readonly number[], before: Side): State {
    const sorted = [...new Set(places)].sort((left, right) => left - right);
    const key = `${before}:${sorted.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    // States point at each other: those that are dropped here live on only as long as a match is using them.
    this.#places += sorted.length + placesOfEmptyState;
    if (this.#places > mostPlaces) this.#forget();
    const state: State = { places: sorted, before, next: [], matchesAtEnd: undefined };
    this.#states.set(key, state);
    return state;
  }

  #forget(): void {
    for (const state of this.#states.values()) state.next.length = 0;
    this.#states.clear();
    this.#first = undefined;
    this.#places = 0;
  }

  #classify(code: number, charge: (units: number) => void): number {
    charge(30 + 20 * this.#program.sets.length);
    const inSet = this.#program.sets.map((set) => set.has(code));
    const side = this.#asks ? sideOf(code) : 'other';
    const key = `${side}:${inSet.map(Number).join('')}`;
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

  /** Whether a match can only begin where the text does, so that the rest need not be looked at. */
  #startsAtStart(): boolean {
    const { instructions, start } = this.#program;
    const stack = [start];
    const seen = new Set<number>();
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      const instruction = instructions[place];
      if (seen.has(place) || instruction === undefined) continue;
      seen.add(place);
      if (instruction.kind === 'take' || instruction.kind === 'match') return false;
      if (instruction.kind === 'fork') stack.push(instruction.next, instruction.other);
      else if (instruction.assertion !== 'textStart') stack.push(instruction.next);
    }
    return true;
  }
}

function sideOf(code: number): Side {
  if (wordCharacter.has(code)) return 'word';
  return newline.has(code) ? 'newline' : 'other';
}

function holds(assertion: Assertion, before: Side, after: Side): boolean {
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
  }
}
