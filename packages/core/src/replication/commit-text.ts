import { everything } from '../journal/index.ts';
import type { Interned } from './encoding/codec.ts';
import { nothingInterned } from './encoding/codec.ts';
import { readFacts, writeFacts } from './encoding/commit.ts';
import type { ReadFacts, WrittenFacts } from './facts-of-commit.ts';
import { readNamedFacts } from './named-facts.ts';

/** The facts of a commit as text, for other gateways. */
export function commitText(facts: WrittenFacts): string {
  return writeFacts(facts, true);
}

/** The facts of a commit as text, for a start of the gateway that wrote them. */
export function factsText(facts: WrittenFacts): string {
  return writeFacts(facts, false);
}

/**
 * Reads the facts of a commit, written by this release or by another one. It never throws: the commit is made, whether or not
 * it can be read here. What cannot be read is told.
 */
export function parseCommit(text: string, interned: Interned = nothingInterned): ReadFacts {
  try {
    const written: unknown = JSON.parse(text);
    return Array.isArray(written) ? readFacts(written, interned) : readNamedFacts(written);
  } catch {
    // Nothing of it is quoted: a commit may hold secrets.
    return { steps: [], touched: everything, unread: [{ touched: null, why: 'its text is not that of a commit' }] };
  }
}
