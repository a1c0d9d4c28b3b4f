import { mapBudgetEvent, mapBudgetsChange } from '../budget/index.ts';
import type { Total } from '../kernel/index.ts';
import type { Change, DomainEvent } from '../store.ts';

/** JSON has no number for a large sum. */
type WrittenSum = number | { readonly $big: string };

interface SumsOf<Item> {
  /** The item with its sums as JSON holds them. */
  write(item: Item): unknown;
  /** The item that was written. */
  read(written: unknown): Item;
}

/** A bigint in a member, whatever stands between. Four levels deeper than any step has. */
type HoldsSum<Item, Depth extends 0[] = []> = Depth['length'] extends 10
  ? false
  : Item extends bigint
    ? true
    : Item extends string | number | boolean | null | undefined
      ? false
      : { [Member in keyof Item]-?: HoldsSum<Item[Member], [...Depth, 0]> }[keyof Item];

type Kind = Change['kind'];
type ChangeOf<One extends Kind> = Extract<Change, { readonly kind: One }>;
type KindWithSums = { [One in Kind]: true extends HoldsSum<ChangeOf<One>> ? One : never }[Kind];

type Type = DomainEvent['type'];
type EventOf<One extends Type> = Extract<DomainEvent, { readonly type: One }>;
type TypeWithSums = { [One in Type]: true extends HoldsSum<EventOf<One>> ? One : never }[Type];

/**
 * The changes and events that hold sums, and where. The types decide which these are, so that one that is not here does
 * not compile. Nothing else in a step is interpreted: whatever a caller chose arrives as it was.
 */
const changes: { readonly [One in KindWithSums]: SumsOf<ChangeOf<One>> } = {
  balances_saved: {
    write: (change) => mapBudgetsChange(change, writtenSum),
    read: (written) => mapBudgetsChange(written as ReturnType<typeof mapBudgetsChange<Total, WrittenSum>>, sumOf),
  },
};

const events: { readonly [One in TypeWithSums]: SumsOf<EventOf<One>> } = {
  budget: {
    write: (event) => mapBudgetEvent(event, writtenSum),
    read: (written) => mapBudgetEvent(written as ReturnType<typeof mapBudgetEvent<Total, WrittenSum>>, sumOf),
  },
};

export function writeSumsOfChange(change: Change): unknown {
  return hasSums(changes, change.kind) ? changes[change.kind].write(change as ChangeOf<KindWithSums>) : change;
}

export function readSumsOfChange(written: Change): Change {
  return hasSums(changes, written.kind) ? changes[written.kind].read(written) : written;
}

export function writeSumsOfEvent(event: DomainEvent): unknown {
  return hasSums(events, event.type) ? events[event.type].write(event as EventOf<TypeWithSums>) : event;
}

export function readSumsOfEvent(written: DomainEvent): DomainEvent {
  return hasSums(events, written.type) ? events[written.type].read(written) : written;
}

function hasSums<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name);
}

function writtenSum(sum: Total): WrittenSum {
  return typeof sum === 'number' ? sum : { $big: String(sum) };
}

function sumOf(written: WrittenSum): Total {
  return typeof written === 'number' ? written : BigInt(written.$big);
}
