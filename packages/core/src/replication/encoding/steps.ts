import type { AnyStep } from '../facts-of-commit.ts';
import type { Codec, CommitReading, CommitWriting } from './codec.ts';
import { misfit } from './codec.ts';
import { changeSchema, eventSchema } from './fact-schema.ts';
import type { MembersOf } from './record.ts';
import { record } from './record.ts';
import { text, word } from './values.ts';

type AnyFact = { readonly kind: string } | { readonly type: string };

/** By the names of facts. A map, so that none is taken for a member that every object has. */
const facts: ReadonlyMap<string, Codec<AnyFact>> = new Map([
  ...Object.entries(changeSchema).map(([name, members]) => [name, fact({ kind: word([name]), ...members })] as const),
  ...Object.entries(eventSchema).map(([name, members]) => [name, fact({ type: word([name]), ...members })] as const),
]);

function fact(members: object): Codec<AnyFact> {
  return record(members as MembersOf<AnyFact>);
}

function codecOf(name: string): Codec<AnyFact> {
  const known = facts.get(name);
  if (known === undefined) throw new Error('it is of a kind that this release does not know');
  return known;
}

/** A fact as a row: its name, and its members in the order of their schema. */
export function writeStep(step: AnyStep, to: CommitWriting): unknown {
  return 'change' in step
    ? codecOf(step.change.kind).write(step.change, to)
    : codecOf(step.event.type).write(step.event, to);
}

export function readStep(row: unknown, from: CommitReading): AnyStep {
  if (!Array.isArray(row)) throw misfit('fact');
  const read = codecOf(text.read(row[0], from)).read(row, from);
  return ('kind' in read ? { change: read } : { event: read }) as AnyStep;
}
