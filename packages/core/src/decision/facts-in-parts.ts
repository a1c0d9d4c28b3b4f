import type { User } from '../action/index.ts';
import type { RunCounts, RunFacts } from '../policy/index.ts';

/*
 * Facts whose members are read when a condition asks for them. They are classes: an object literal with a getter gets a
 * hidden class of its own each time that one is made, which costs more than judging a rule. A copy by spread lacks what the
 * class reads.
 */

/** What happened in a run. */
export class RunInParts implements RunFacts {
  readonly id: string;
  readonly #counts: () => RunCounts;
  readonly #labels: () => readonly string[];

  constructor(id: string, counts: () => RunCounts, labels: () => readonly string[]) {
    this.id = id;
    this.#counts = counts;
    this.#labels = labels;
  }

  get checks(): number {
    return this.#counts().checks;
  }

  get spent_usd(): number {
    return this.#counts().spent_usd;
  }

  get labels(): readonly string[] {
    return this.#labels();
  }
}

/** All of it, read now, as another thread can have it. */
export function runAtOnce({ id, checks, spent_usd, labels }: RunFacts): RunFacts {
  return { id, checks, spent_usd, labels };
}

/** A user of whom is noted that somebody has asked for the groups. */
export class NotedUser implements User {
  readonly issuer: string;
  readonly sub: string;
  readonly email: string;
  readonly claims: User['claims'];
  readonly #user: User;
  readonly #note: (groups: readonly string[]) => void;

  constructor(user: User, note: (groups: readonly string[]) => void) {
    this.issuer = user.issuer;
    this.sub = user.sub;
    this.email = user.email;
    this.claims = user.claims;
    this.#user = user;
    this.#note = note;
  }

  get groups(): readonly string[] {
    const { groups } = this.#user;
    this.#note(groups);
    return groups;
  }
}
