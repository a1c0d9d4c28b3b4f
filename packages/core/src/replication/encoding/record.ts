import type { Codec, CommitReading, OptionalCodec } from './codec.ts';
import { misfit, nothingInterned } from './codec.ts';

/** How each member is written, in the order in which they are. A later one comes last, and has an `absent`. */
export type MembersOf<Item> = {
  readonly [Member in keyof Item]-?: undefined extends Item[Member]
    ? OptionalCodec<Exclude<Item[Member], undefined>>
    : object extends Pick<Item, Member>
      ? OptionalCodec<Item[Member]>
      : Codec<Item[Member]>;
};

type AnyCodec = Codec<unknown> & { readonly isOptional?: true };

type Values = Readonly<Record<string, unknown>>;

/** Nobody reads it: what a row leaves out is the same in every commit. */
const nothingRead: CommitReading = { interned: nothingInterned, texts: [], agents: [], base: 0 };

/** A row of the members, in their order. A member without a codec does not compile. */
export function record<Item>(members: MembersOf<Item>): Codec<Item> {
  const entries = Object.entries<AnyCodec>(members as unknown as Record<string, AnyCodec>);
  const all = entries.map(([name, { write, read }]) => ({ name, write, read }));
  const absent = entries.map(([, codec]) => codec.absent);
  /** So many of the first ones are in every row. */
  const least = absent.lastIndexOf(undefined) + 1;
  /** What a row without the others says. */
  const blank: Values = Object.fromEntries(entries.flatMap(blankMember));
  /** A copy of it has its room at once, where a list would grow several times. */
  const blankRow: readonly unknown[] = all.map(() => '');
  return {
    form: { members: Object.fromEntries(entries.map(([name, { form }]) => [name, form])) },
    write: (item, to) => {
      const row = blankRow.slice();
      let at = 0;
      for (const { name, write } of all) row[at++] = write((item as Values)[name], to);
      for (; at > least && row[at - 1] === absent[at - 1]; at--) row.pop();
      return row;
    },
    // What follows the last member is of a later release, and is left out.
    read: (row, from) => {
      if (!Array.isArray(row) || row.length < least) throw misfit('record');
      const item: Record<string, unknown> = { ...blank };
      let at = 0;
      for (const { name, read } of all) {
        if (at === row.length) break;
        const value = read(row[at++], from);
        if (value !== undefined) item[name] = value;
      }
      return item as Item;
    },
  };
}

/** A member of a row that leaves it out. One that no row leaves out is there all the same, which makes all items alike. */
function blankMember([name, { absent, isOptional, read }]: readonly [string, AnyCodec]): [string, unknown][] {
  if (isOptional !== undefined) return [];
  return [[name, absent === undefined ? null : read(undefined, nothingRead)]];
}
