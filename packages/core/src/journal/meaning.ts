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
 * Everything that one kind of fact means. The same `apply` runs where the fact happens, at other gateways on the log, and
 * after a restart.
 */
export interface Meaning<State, Fact> {
  /** Changes memory, and returns the inverse. It judges nothing: whoever made the fact has. */
  readonly apply: (state: State, fact: Fact, how: Applying) => Undo;
  /** Whose state the fact changes. If another gateway was first, turns that rest on that state run again. */
  readonly touch: (fact: Fact) => Touch;
  readonly rows: (fact: Fact) => readonly Write[];
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

/** Applies facts to a state that may come later. */
export function applyWith<State, Fact extends Named>(
  meanings: Meanings<State, Fact>,
  state: () => State,
): (fact: Named, how: Applying) => Undo {
  const byName = meanings as unknown as Readonly<Record<string, Meaning<State, Named> | undefined>>;
  return (fact, how) => {
    const meaning = byName[nameOf(fact)];
    if (meaning === undefined) throw new Error(`nothing here knows what ${nameOf(fact)} means`);
    return meaning.apply(state(), fact, how);
  };
}

/** Takes several changes back, the newest first. */
export function undoAll(...undos: readonly Undo[]): Undo {
  return () => {
    for (const undo of undos.toReversed()) undo();
  };
}

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
