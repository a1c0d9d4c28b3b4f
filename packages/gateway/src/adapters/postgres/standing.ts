import type { ChainHead } from '@reeve/core';
import { FellBehind } from './fell-behind.ts';

/** The commit that memory stands on. Its number alone says nothing: after a loss, other commits get the same numbers. */
export interface Standing extends ChainHead {
  readonly version: number;
  /** The name of the commit, which no other commit has. Null if the database has no note of it. */
  readonly name: string | null;
}

/** What the database says of a commit. */
export interface NotedCommit extends ChainHead {
  readonly version: number;
  readonly gateway: string;
}

/** The head of the log in the database. */
export interface LogHead extends ChainHead {
  readonly version: number;
}

/** The head of the log. The answer to this is a `LogHead`. */
export const headQuestion = 'SELECT version, seq, hash FROM chain';

/**
 * The commit with this number, without its text, and those after it from `next` on. So whoever reads what comes next
 * sees what it comes after.
 */
export function commitsQuestion(version: number | '?', next: number | '?'): string {
  return `SELECT version, gateway, seq, hash, CASE WHEN version = ${version} THEN '' ELSE told END AS facts
    FROM commits WHERE version >= ${next} ORDER BY version`;
}

/**
 * Throws unless the database holds the very commit that memory stands on. Returns false if it holds no note of that
 * commit, but stands on the same entry: the note was forgotten, and its name is no longer known.
 */
export function requireStanding(standing: Standing, head: LogHead, noted: NotedCommit | undefined): boolean {
  const { version, name, seq, hash } = standing;
  if (head.version < version) throw new FellBehind(version, `it has only ${head.version}, so it has lost commits`);
  if (noted?.version === version) {
    const isSame = (name === null || noted.gateway === name) && noted.seq === seq && noted.hash === hash;
    if (!isSame) throw new FellBehind(version, 'it holds another commit of that number, so it has lost commits');
    return true;
  }
  if (head.version > version) {
    // Of a gateway that is alone no notes are kept.
    if (name === null) return false;
    throw new FellBehind(version, 'it has forgotten that commit');
  }
  if (head.seq !== seq || head.hash !== hash) {
    throw new FellBehind(version, 'it holds another entry there, so it has lost commits');
  }
  return false;
}
