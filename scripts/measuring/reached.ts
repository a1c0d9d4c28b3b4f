import { readFileSync } from 'node:fs';
import type { ProcessCounts } from './process-counts.ts';

interface Position {
  readonly line?: number;
  readonly column?: number;
}

interface Place {
  readonly start: Position;
  readonly end: Position;
}

interface Branch {
  readonly type: string;
  readonly loc: Place;
  readonly locations: readonly Place[];
}

/** What Vitest says of one file, in the form of Istanbul. */
export interface FileCoverage {
  readonly path: string;
  readonly statementMap: Readonly<Record<string, Place>>;
  readonly s: Readonly<Record<string, number>>;
  readonly branchMap: Readonly<Record<string, Branch>>;
  readonly b: Readonly<Record<string, readonly number[]>>;
}

/** How many there are, how many the tests beside the sources reach, and how many these and the processes reach. */
export interface Reached {
  readonly total: number;
  readonly inside: number;
  readonly all: number;
}

export interface FileReached {
  readonly lines: Reached;
  readonly branches: Reached;
}

export const none: Reached = { total: 0, inside: 0, all: 0 };

export function added(one: Reached, other: Reached): Reached {
  return { total: one.total + other.total, inside: one.inside + other.inside, all: one.all + other.all };
}

export function reachedIn(coverage: FileCoverage, counts: ProcessCounts): FileReached {
  const starts = lineStarts(readFileSync(coverage.path, 'utf8'));
  const ran = ({ line, column }: Position) =>
    line === undefined || column === undefined ? 0 : counts.at(coverage.path, (starts[line - 1] ?? 0) + column);
  return { lines: lines(coverage, ran), branches: branches(coverage, ran) };
}

type Ran = (position: Position) => number;

/** A line counts by the statements that begin on it. */
function lines({ statementMap, s }: FileCoverage, ran: Ran): Reached {
  const found = new Map<number, { inside: boolean; outside: boolean }>();
  for (const [id, { start }] of Object.entries(statementMap)) {
    const line = found.get(start.line ?? 0) ?? { inside: false, outside: false };
    line.inside ||= (s[id] ?? 0) > 0;
    line.outside ||= ran(start) > 0;
    found.set(start.line ?? 0, line);
  }
  return tally([...found.values()]);
}

function branches({ branchMap, b, statementMap }: FileCoverage, ran: Ran): Reached {
  const statements = Object.values(statementMap)
    .map(({ start }) => start)
    .toSorted(byPlace);
  const found = Object.entries(branchMap).flatMap(([id, branch]) => {
    const taken =
      branch.type === 'if' ? waysOfIf(branch, statements, ran) : branch.locations.map((at) => ran(at.start));
    return taken.map((times, index) => ({ inside: (b[id]?.[index] ?? 0) > 0, outside: times > 0 }));
  });
  return tally(found);
}

/**
 * The first way of an `if` has the place of the whole statement: what it guards is the first statement inside. An `else` that
 * nobody wrote has no place: it was taken as often as the `if` was reached and the first way was not.
 */
function waysOfIf({ loc, locations }: Branch, statements: readonly Position[], ran: Ran): number[] {
  const first = statements.find((at) => byPlace(at, loc.start) > 0 && (at.line ?? 0) <= (loc.end.line ?? 0));
  const guarded = ran(first ?? {});
  const other = locations[1]?.start ?? {};
  return [guarded, other.line === undefined ? Math.max(0, ran(loc.start) - guarded) : ran(other)];
}

function byPlace(one: Position, other: Position): number {
  return (one.line ?? 0) - (other.line ?? 0) || (one.column ?? 0) - (other.column ?? 0);
}

function tally(found: readonly { readonly inside: boolean; readonly outside: boolean }[]): Reached {
  return {
    total: found.length,
    inside: found.filter(({ inside }) => inside).length,
    all: found.filter(({ inside, outside }) => inside || outside).length,
  };
}

function lineStarts(text: string): readonly number[] {
  return [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
}
