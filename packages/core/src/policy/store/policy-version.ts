import type { Width } from '../../access/index.ts';
import type { Actor } from '../../audit/index.ts';
import type { EpochMs } from '../../kernel/index.ts';
import type { PolicySource } from '../parse-source.ts';

/** One version of a stored document. Each change makes a new one, even a deletion. */
export interface PolicyVersion {
  readonly name: string;
  /** Counts from 1, without gaps. */
  readonly version: number;
  /** Null if this version deleted the document. */
  readonly source: string | null;
  /** The scope of the document, even if it was deleted. */
  readonly scope: string;
  readonly savedAt: EpochMs;
  readonly savedBy: Actor;
  readonly note: string;
  /** The widest credential that has written the document up to this version. Narrower ones cannot change it. */
  readonly width: Width;
  /** The width of this version's writer, if it is not the widest. Only in versions from before widths were stored. */
  readonly author?: Width;
}

/** A version as the store has it. */
export interface StoredVersion extends Omit<PolicyVersion, 'width' | 'author'> {
  /** Null in versions from before widths were stored: `writers-from-before.ts` finds it out. */
  readonly width: Width | null;
}

/** How many versions of a document are kept: the newest. */
export const versionsKept = 200;

/** Keeps policies beside those in force: versions of stored documents, and past sets. */
export interface PolicyStore extends PolicyHistory {
  /** The kept versions of a document, newest first. */
  outline(name: string): Promise<readonly Pick<PolicyVersion, 'version' | 'scope'>[]>;
  /** Those of the wanted versions that are kept, newest first. */
  versions(name: string, wanted: readonly number[]): Promise<readonly StoredVersion[]>;
  /**
   * Runs `work` while no other gateway on the same store does. `newest` holds the newest version of each document that
   * others may have stored.
   */
  alone<Result>(work: (newest: readonly StoredVersion[]) => Promise<Result>): Promise<Result>;
}

/** Past sets, by the version that answers and the audit log name. */
export interface PolicyHistory {
  /** Undefined if the set is no longer known, or never was. */
  find(version: string): Promise<readonly PolicySource[] | undefined>;
}

/** How many sets are remembered: the latest ones. */
export const setsKept = 100;

/** A set to remember. A text that many sets share is kept once, under its hash. */
export interface PolicySetRecord {
  readonly version: string;
  readonly at: EpochMs;
  readonly sources: readonly (PolicySource & { readonly hash: string })[];
}
