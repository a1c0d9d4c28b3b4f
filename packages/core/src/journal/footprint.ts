import type { FactPorts } from './meaning.ts';
import type { Touch, Touched } from './shared-log.ts';

/** What a turn has read: whose state, or something that has a name and may change by facts about others. */
export type Read = Touch | { readonly name: string };

/** Where views note what the turn at hand rests on. Rules read through views, so they cannot forget it. */
export interface Noting {
  /** The turn runs again if a commit before it, or a turn before it that runs again, changes this. */
  reads(what: Read): void;
  /**
   * The turn runs again if this no longer holds once all commits of others are followed. For what commutes, such as sums:
   * most changes make no difference. It is given the names of what the turn itself has changed.
   */
  onlyWhile(condition: Condition): void;
}

export type Condition = (changed: ReadonlySet<string>) => boolean;

/** Says what facts change. */
type Changes<Fact> = Pick<FactPorts<Fact>, 'touchOf' | 'altersOf' | 'claimsOf'>;

/** What was read, or what facts change: the state of agents, of whole orgs, and what has a name. */
export class Footprint {
  readonly #agents = new Set<string>();
  readonly #orgs = new Set<string>();
  readonly #names = new Set<string>();
  #everything = false;
  #isUnknown = false;

  get names(): ReadonlySet<string> {
    return this.#names;
  }

  add(read: Read): void {
    if (read === undefined) return;
    if (read === 'everything') this.#everything = true;
    else if ('agent' in read) this.#agents.add(read.agent);
    else if ('org' in read) this.#orgs.add(read.org);
    else this.#names.add(read.name);
  }

  addNames(names: readonly string[]): void {
    for (const name of names) this.#names.add(name);
  }

  /** Adds what a fact changes. `isNext`: it happens here and now. */
  addFact<Fact>({ touchOf, altersOf, claimsOf }: Changes<Fact>, fact: Fact, isNext = false): void {
    this.add(touchOf(fact));
    this.addNames(altersOf(fact, isNext));
    this.addNames(claimsOf(fact));
  }

  addTouched({ agents, orgs, everything }: Touched): void {
    for (const agent of agents) this.#agents.add(agent);
    for (const org of orgs) this.#orgs.add(org);
    this.#everything ||= everything;
  }

  /** Nobody here can read all of it. It may have changed anything that has a name. */
  addUnknown(): void {
    this.#isUnknown = true;
  }

  addAll(other: Footprint): void {
    for (const agent of other.#agents) this.#agents.add(agent);
    for (const org of other.#orgs) this.#orgs.add(org);
    for (const name of other.#names) this.#names.add(name);
    this.#everything ||= other.#everything;
    this.#isUnknown ||= other.#isUnknown;
  }

  /**
   * Whether what was read rests on what was changed. An agent's own state is read together with what holds for its org
   * and for everybody. What concerns an org reads all of its agents.
   */
  restsOn(changed: Footprint): boolean {
    if (this.#restsOnNames(changed)) return true;
    if (this.#touchesNobody || changed.#touchesNobody) return false;
    if (this.#everything || changed.#everything) return true;
    if (haveCommon(this.#agents, changed.#agents) || haveCommon(this.#orgs, changed.#orgs)) return true;
    return isWithin(this.#agents, changed.#orgs) || isWithin(changed.#agents, this.#orgs);
  }

  #restsOnNames(changed: Footprint): boolean {
    if (this.#names.size === 0) return false;
    return changed.#isUnknown || haveCommon(this.#names, changed.#names);
  }

  get #touchesNobody(): boolean {
    return !this.#everything && this.#agents.size + this.#orgs.size === 0;
  }
}

function haveCommon(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  const [few, many] = one.size <= other.size ? [one, other] : [other, one];
  for (const each of few) if (many.has(each)) return true;
  return false;
}

function isWithin(agents: ReadonlySet<string>, orgs: ReadonlySet<string>): boolean {
  if (orgs.size === 0) return false;
  for (const agent of agents) if (orgs.has(agent.slice(0, agent.indexOf('/')))) return true;
  return false;
}

/** What a turn rests on, and what it changes. */
export class Trace {
  /** What it has read, and what it changes as far as that does not commute. */
  readonly rests = new Footprint();
  readonly changes = new Footprint();
  /** What must hold of memory once all commits of others are followed. */
  readonly conditions: Condition[] = [];

  /** A fact is about to happen here. */
  addFact<Fact>(facts: Changes<Fact>, fact: Fact): void {
    this.changes.addFact(facts, fact, true);
    this.rests.add(facts.touchOf(fact));
    this.rests.addNames(facts.claimsOf(fact));
  }
}
