import type { Write } from './rows.ts';
import type { Touch } from './shared-log.ts';

/** The inverse of one `apply`. It runs if the fact cannot be made durable, or if another gateway was first. */
export type Undo = () => void;

/** Events are told apart by their type. */
export interface Typed {
  readonly type: string;
}

/** How a fact comes to memory. */
export interface Applying {
  /** It happens here, and is not durable yet. Otherwise the log has it already. */
  readonly isHere: boolean;
  /** The newest entry that the log had right after the fact. Infinity if the log does not have the fact yet. */
  readonly seq: number;
  /** Has an effect on others once the fact is durable. Nothing happens if the fact is taken back. */
  readonly onDurable: (effect: () => void) => void;
}

/** A start finds the fact in the store. Nobody listens yet. */
export const restoring: Applying = { isHere: false, seq: 0, onDurable: () => undefined };

/**
 * The parts of memory whose rows are written aside from decisions, some time after their facts. Each has a mark: its rows
 * are true up to that entry, or beyond it. A start reads the rows, and applies the facts after the mark again.
 */
export type SavedLater = 'ops' | 'balances' | 'rates' | 'runs';

/**
 * What a fact means to each part of memory that is saved later. `untold` is what entries do not say, for a commit that is
 * restored from them.
 */
export type Redo<State, Fact> = {
  readonly [Part in SavedLater | 'untold']?: (state: State, fact: Fact, how: Applying) => void;
};

/**
 * Everything that one kind of fact means. The same `apply` runs where the fact happens, at other gateways on the log, and
 * after a restart.
 */
export interface Meaning<State, Fact> {
  /** Changes memory, and returns the inverse. It judges nothing: whoever made the fact has. */
  readonly apply: (state: State, fact: Fact, how: Applying) => Undo;
  /** Whose state the fact changes. If another gateway was first, turns that rest on that state run again. */
  readonly touch: (fact: Fact) => Touch;
  /**
   * What else it changes that turns about others may have read, by name: a balance, a counter, who has a token. Such turns
   * run again. Facts that alter the same commute. `isNext`: the state is the one that the fact happens in. Otherwise turns
   * of this gateway may have changed it already, which come later.
   */
  readonly alters?: (fact: Fact, state: State, isNext: boolean) => readonly string[];
  /** The same for what does not commute: of two turns that claim the same, the one that comes later runs again. */
  readonly claims?: (fact: Fact) => readonly string[];
  readonly rows: (fact: Fact) => readonly Write[];
  /** Absent if the rows of its own commit hold all of it, or if nobody needs it after a restart. */
  readonly redo?: Redo<State, Fact>;
}

/** Facts are told apart by these names. */
export type NameOf<Fact> = Fact extends { readonly kind: infer Kind extends string }
  ? Kind
  : Fact extends { readonly type: infer Type extends string }
    ? Type
    : never;

/** What each kind of fact means. A missing kind does not compile. */
export type Meanings<State, Fact extends Named> = {
  readonly [Name in NameOf<Fact>]: Meaning<State, Extract<Fact, { readonly kind: Name } | { readonly type: Name }>>;
};

export type Named = { readonly kind: string } | Typed;

export function nameOf(fact: Named): string {
  return 'kind' in fact ? fact.kind : fact.type;
}

/** What a journal must know of facts. */
export interface FactPorts<Fact> {
  /** Changes memory by a fact that happens here. */
  readonly apply: (fact: Fact, how: Applying) => Undo;
  /** Whether a start applies the fact again, so that the log must keep it. */
  readonly isRedone: (fact: Fact) => boolean;
  readonly touchOf: (fact: Fact) => Touch;
  /** The names of what the fact alters and claims. Asked only where the log is shared. */
  readonly altersOf: (fact: Fact, isNext: boolean) => readonly string[];
  readonly claimsOf: (fact: Fact) => readonly string[];
}

/** Facts with these meanings, for a state that may come later. */
export function factsWith<State, Fact extends Named>(
  meanings: Meanings<State, Fact>,
  state: () => State,
): FactPorts<Named> {
  const byName = meanings as unknown as Readonly<Record<string, Meaning<State, Named> | undefined>>;
  const meaningOf = (fact: Named): Meaning<State, Named> => {
    const meaning = byName[nameOf(fact)];
    if (meaning === undefined) throw new Error(`nothing here knows what ${nameOf(fact)} means`);
    return meaning;
  };
  return {
    apply: (fact, how) => meaningOf(fact).apply(state(), fact, how),
    isRedone: (fact) => meaningOf(fact).redo !== undefined,
    touchOf: (fact) => meaningOf(fact).touch(fact),
    altersOf: (fact, isNext) => meaningOf(fact).alters?.(fact, state(), isNext) ?? none,
    claimsOf: (fact) => meaningOf(fact).claims?.(fact) ?? none,
  };
}

/** Takes several changes back, the newest first. */
export function undoAll(...undos: readonly Undo[]): Undo {
  let changes = 0;
  let only: Undo = nothing;
  for (const undo of undos) {
    if (undo === nothing) continue;
    only = undo;
    changes++;
  }
  if (changes < 2) return only;
  return () => {
    for (const undo of undos.toReversed()) undo();
  };
}

const none: readonly string[] = [];

const nothing = () => undefined;

/** Memory holds nothing of the fact. */
export const nothingToApply = (): Undo => nothing;

/** No decision rests on the fact. */
export const touchesNobody = (): Touch => undefined;

export const noRows = (): readonly Write[] => [];

/** Only rows hold the fact. */
export const storedOnly = { apply: nothingToApply, touch: touchesNobody } as const;

/** Shown to whoever watches, and nothing else. */
export const shownOnly = { ...storedOnly, rows: noRows } as const;

export function touchesOrg(orgId: string | null): Touch {
  return orgId === null ? 'everything' : { org: orgId };
}
