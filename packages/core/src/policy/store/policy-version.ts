import type { Width } from '../../access/index.ts';
import type { Actor } from '../../audit/index.ts';
import type { EpochMs } from '../../kernel/index.ts';
import type { PolicySource } from '../parse-source.ts';

/** One version of a stored document: each change makes a new one, also one that takes the document away. */
export interface PolicyVersion {
  readonly name: string;
  /** Counts from 1, without gaps. */
  readonly version: number;
  /** Null where this version took the document away. */
  readonly source: string | null;
  /** Of the document, or of the one that was taken away. */
  readonly scope: string;
  readonly savedAt: EpochMs;
  readonly savedBy: Actor;
  readonly note: string;
  /** The widest credential that has ever written the document, up to this version: narrower ones do not change it. */
  readonly width: Width;
  /** How wide the writer of this version was, where that is not the widest: only of what was stored before widths were. */
  readonly author?: Width;
}

/** A version as a store has it. */
export interface StoredVersion extends Omit<PolicyVersion, 'width' | 'author'> {
  /** Null where it was stored before widths were: `writers-from-before.ts` finds it out. */
  readonly width: Width | null;
}

/** How many versions of a document are kept, the newest. */
export const versionsKept = 200;

/** What is kept of policies beside what is in force: versions of stored documents, and sets that were in force. */
export interface PolicyStore extends PolicyHistory {
  /** Which versions of a document are kept, the newest first. */
  outline(name: string): Promise<readonly Pick<PolicyVersion, 'version' | 'scope'>[]>;
  /** Those of the versions that are kept, the newest first. */
  versions(name: string, wanted: readonly number[]): Promise<readonly StoredVersion[]>;
  /**
   * Runs `work` while no other gateway on the same store does. It is given the newest version of each document, as far
   * as others may have stored it.
   */
  alone<Result>(work: (newest: readonly StoredVersion[]) => Promise<Result>): Promise<Result>;
}

/** What was in force together, by the version that answers and the audit log name it with. */
export interface PolicyHistory {
  /** Undefined where the set is not remembered any more, or never was. */
  find(version: string): Promise<readonly PolicySource[] | undefined>;
}

/** How many sets are remembered: those that came in force last. */
export const setsKept = 100;

/** A set to be remembered. A text that many sets have is kept once, under its hash. */
export interface PolicySetRecord {
  readonly version: string;
  readonly at: EpochMs;
  readonly sources: readonly (PolicySource & { readonly hash: string })[];
}
