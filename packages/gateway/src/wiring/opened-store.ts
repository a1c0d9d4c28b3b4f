import type { AccountStore, AuditReader, EntryLog, PeopleReader, Store, Tickets } from '@reeve/core';
import type { NatsBus } from '../adapters/nats/nats-bus.ts';
import type { Backup } from '../adapters/backup/make-backup.ts';
import type { CommitFeed, SentCommit } from '../adapters/postgres/commit-feed.ts';
import type { Membership } from '../adapters/postgres/membership.ts';
import type { PostgresStore } from '../adapters/postgres/postgres-store.ts';
import type { ForwardPositions } from '../forwarding/forward-positions.ts';

/** A store and its companions. */
export interface OpenStore {
  readonly store: Store;
  readonly reader: AuditReader & PeopleReader;
  readonly indexLag: () => Promise<number>;
  /** How many entries are still to be packed. Absent where none are. */
  readonly unpacked?: () => Promise<number>;
  /** The data folder, if the gateway has one, and alone. */
  readonly folder?: string;
  /**
   * Starts what keeps the store in shape and nobody waits for: indexing and packing the log, and checkpoints. Called once the
   * gateway listens, so that none of it holds up the start.
   */
  readonly startUpkeep?: () => void;
  /** The length of the write-ahead log of an embedded store. */
  readonly walBytes?: () => number;
  /** Makes a backup, or says why this store has none. */
  readonly backup: (() => Promise<Backup>) | string;
  /** The log from any entry on, read beside decisions. */
  readonly log: EntryLog;
  /** How far the targets of the log are. */
  readonly positions: ForwardPositions;
  /** Absent for the store in memory: it keeps nothing, so it has no accounts. */
  readonly accountStore?: AccountStore;
  /** Absent if no other gateway can be on the same store. */
  readonly membership?: Membership;
  /** Set if other gateways on the same store are heard. */
  readonly shared?: SharedStore;
}

/** What several gateways share, and how they hear each other. */
export interface SharedStore {
  readonly store: PostgresStore;
  readonly feed: CommitFeed;
  readonly bus: NatsBus;
  /** Tells the others of a commit of this gateway. */
  readonly tell: (commit: SentCommit) => void;
  readonly tickets: Tickets;
  /** Called when commits of other gateways may be at hand. `isKnown` is false if they must be read. */
  onCommits: (isKnown: boolean) => void;
  /** Called if memory could not follow the others: the gateway must not go on. */
  readonly onDiverged: (error: unknown) => void;
  /** Resolves once NATS was reached for the first time. */
  readonly connected: Promise<void>;
}
