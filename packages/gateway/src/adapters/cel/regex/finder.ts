import type { Range } from '@reeve/core';
import { Automaton, nextRound, placesOfEmptyState, priceOfCharacter, priceOfPlace, seen } from './automaton.ts';
import { assertions } from './pattern.ts';
import { operation } from './program.ts';
import type { Side } from './steps.ts';
import { argumentAt, holds, nextAt, operationAt } from './steps.ts';

type Charge = (units: number) => void;

/** The places where a match that has begun may be, the preferred first. */
interface Ordered {
  readonly places: readonly number[];
  readonly before: Side;
  /** Indexed by the class of the next character: what comes next, and whether a match ends before that character. */
  readonly next: (Step | undefined)[];
  endsAtEnd: boolean | undefined;
}

interface Step {
  readonly to: Ordered | undefined;
  readonly ends: boolean;
}

const chunk = 64;
const priceOfAttempt = 2;

/**
 * Finds all matches of a pattern in a text, as RE2 does: the leftmost, then the leftmost after it. Of those that begin at
 * the same place, the pattern says which is preferred. Where nothing matches, one pass tells. Otherwise it tries the places
 * up to where the first match ends. A hostile text may make these tries long: each is charged before it is made.
 */
export class Finder extends Automaton {
  readonly #ordered = new Map<string, Ordered>();

  *find(text: string, charge: Charge): Generator<Range> {
    for (let from = 0; from < text.length; ) {
      const end = this.firstEnd(text, from, charge);
      if (end < 0) return;
      const found = this.#firstFrom(text, from, end, charge);
      if (found !== undefined) yield found;
      from = found?.end ?? after(text, end);
    }
  }

  /** The first match that begins between two places and holds something. */
  #firstFrom(text: string, from: number, to: number, charge: Charge): Range | undefined {
    for (let start = from; start <= to && start < text.length; start = after(text, start)) {
      const end = this.#endOf(text, start, charge);
      if (end > start) return { start, end };
    }
    return undefined;
  }

  /** Where the preferred match that begins here ends. Negative if none begins here. */
  #endOf(text: string, start: number, charge: Charge): number {
    const { length } = text;
    charge(priceOfAttempt);
    let state: Ordered = this.#state([this.program.start], this.sideBefore(text, start));
    let end = -1;
    let paid = start + 1;
    for (let at = start; at < length; ) {
      if (at >= paid) {
        charge(chunk * priceOfCharacter);
        paid += chunk;
      }
      const code = text.codePointAt(at) ?? 0;
      const charClass = this.classOf(code, charge);
      const { to, ends }: Step = state.next[charClass] ?? this.#step(state, charClass, charge);
      if (ends) end = at;
      if (to === undefined) return end;
      state = to;
      at += code > 0xffff ? 2 : 1;
    }
    state.endsAtEnd ??= this.#reach(state, 'edge', charge).ends;
    return state.endsAtEnd ? length : end;
  }

  #step(state: Ordered, charClass: number, charge: Charge): Step {
    const { in: inSet, side } = this.membersOf(charClass);
    const { takers, ends } = this.#reach(state, side, charge);
    const { program } = this;
    const places = takers
      .filter((taker) => inSet[argumentAt(program, taker)] === 1)
      .map((taker) => nextAt(program, taker));
    charge((takers.length + places.length) * priceOfPlace);
    const to = places.length === 0 ? undefined : this.#state(places, this.asks ? side : 'other');
    const step = { to, ends };
    state.next[charClass] = step;
    return step;
  }

  /** The instructions that wait for a character, in order. What comes after a match is not preferred to it. */
  #reach(
    { places, before }: Ordered,
    ahead: Side,
    charge: Charge,
  ): { readonly takers: number[]; readonly ends: boolean } {
    const takers: number[] = [];
    const { program } = this;
    const present = nextRound();
    const stack = places.toReversed();
    for (let place = stack.pop(); place !== undefined; place = stack.pop()) {
      if (seen[place] === present) continue;
      seen[place] = present;
      charge(priceOfPlace);
      const kind = operationAt(program, place);
      if (kind === operation.match) return { takers, ends: true };
      if (kind === operation.take) takers.push(place);
      else if (kind === operation.fork) stack.push(argumentAt(program, place), nextAt(program, place));
      else if (holds(assertions[argumentAt(program, place)], before, ahead)) stack.push(nextAt(program, place));
    }
    return { takers, ends: false };
  }

  #state(places: readonly number[], before: Side): Ordered {
    const distinct = [...new Set(places)];
    const key = `${before}:${distinct.join()}`;
    const known = this.#ordered.get(key);
    if (known !== undefined) return known;
    this.makeRoom(distinct.length + placesOfEmptyState);
    const state: Ordered = { places: distinct, before, next: [], endsAtEnd: undefined };
    this.#ordered.set(key, state);
    return state;
  }

  protected override forget(): void {
    for (const state of this.#ordered.values()) state.next.length = 0;
    this.#ordered.clear();
    super.forget();
  }
}

function after(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1);
}
