import type { Usage } from './process-usage.ts';

/** How requests are sent. Every lane waits for its answer before it sends again. */
export interface Shape {
  readonly name: string;
  readonly method: 'unary' | 'batch' | 'stream';
  readonly connections: number;
  /** Calls in flight on each connection; for a stream, messages in flight on its one call. */
  readonly inFlight: number;
  /** How long a lane of single calls rests after each answer; not at all by default. */
  readonly restMs?: number;
  /** Single calls name a user: each agent the same again, by one token, or each call another, by a new one. */
  readonly subject?: 'known' | 'new';
}

/** A check of few arguments. Plain ones have the least; those of a mix are allowed, denied as too large, or held. */
export type SmallCheck = 'plain' | 'small' | 'large' | 'deep';

/** A call that is sent over and over, and how its answer is known to be right. */
export interface RawCall {
  /** The content as base64, or the fleet whose checks are sent, each with an operation of its own. */
  readonly content: { readonly base64: string } | { readonly fleet: string; readonly check: SmallCheck };
  /** Bytes, as hexadecimal digits, that the answer's first frame of content holds: there, or anywhere. */
  readonly answer: { readonly hex: string; readonly at?: number };
}

export interface RawRequest extends RawCall {
  readonly path: string;
  readonly contentType: string;
  /** What is sent between: one call in ten that is denied, and one in a hundred that is held. */
  readonly mix?: {
    readonly denied: RawCall;
    readonly held?: RawCall;
    /** Where each operation is completed once it was allowed. */
    readonly completePath?: string;
  };
}

export const batchSize = 100;

/** A well-formed key, used by benchmarks only. */
export const bootstrapKey = 'rvk_abcdefghijkl_01234567890123456789012345678901234567891ssRG8';

/** The jobs of the load process. Agents are registered at `fleet` and act against `target`. */
export type LoadJob =
  | {
      readonly kind: 'register';
      readonly fleet: string;
      readonly agents: number;
      readonly orgs: number;
      /** The prefix of org names, for several fleets; "org" by default. */
      readonly orgPrefix?: string;
    }
  /** Gives the fleet the key of an issuer of users. */
  | { readonly kind: 'vouch'; readonly fleet: string; readonly privateKey: string }
  /** One check. It returns the answer as base64, for the echo to repeat. */
  | { readonly kind: 'sample'; readonly fleet: string; readonly method: 'unary' | 'small' | 'batch' }
  | {
      readonly kind: 'load';
      readonly fleet: string;
      readonly target: string;
      readonly pid: number;
      readonly shape: Shape;
      readonly warmupSecs: number;
      readonly seconds: number;
    }
  /** Calls of one kind to any server that speaks HTTP/2, at the least cost to the load process. */
  | {
      readonly kind: 'raw';
      readonly target: string;
      readonly pid: number;
      readonly request: RawRequest;
      readonly shape: Pick<Shape, 'connections' | 'inFlight'>;
      readonly warmupSecs: number;
      readonly seconds: number;
    }
  /** Checks without completion. They stay in flight, even if others are completed, unless they are noted as open. */
  | { readonly kind: 'fill'; readonly fleet: string; readonly ops: number; readonly noted?: boolean }
  /** Completes every operation that loads have left open at `fleet`. */
  | { readonly kind: 'complete'; readonly fleet: string; readonly pid: number }
  /** Batches in which one entry in ten is allowed and then completed; the others are denied. */
  | { readonly kind: 'mixed'; readonly fleet: string; readonly decisions: number }
  /** Every agent opens a control stream and listens until it is told to hang up. */
  | { readonly kind: 'listen'; readonly fleet: string; readonly connections: number }
  /** Waits until so many controls have arrived; `since` is in milliseconds since the epoch. */
  | { readonly kind: 'hear'; readonly fleet: string; readonly messages: number; readonly since: number }
  | { readonly kind: 'hang-up'; readonly fleet: string }
  /** Opens so many WebSockets that follow all events. */
  | { readonly kind: 'follow'; readonly http: string; readonly clients: number }
  /** Waits until all of them together have so many events. */
  | { readonly kind: 'followed'; readonly http: string; readonly events: number }
  | { readonly kind: 'unfollow'; readonly http: string }
  /** Accounts that log in for so long, each with one login in flight. */
  | { readonly kind: 'logins'; readonly http: string; readonly people: number; readonly seconds: number };

export interface LoadResult {
  readonly calls: number;
  readonly decisions: number;
  readonly seconds: number;
  /** Durations of calls in microseconds, as `Histogram` keeps them. */
  readonly counts: readonly number[];
  /** Includes warm-up and answers after the end. */
  readonly decisionsInAll: number;
  readonly allowed: number;
  readonly failed: number;
  /**
   * The server's usage before the first call, at the end of the measured time, and at rest. Deferred work is part of
   * the cost of a decision.
   */
  readonly server: { readonly before: Usage; readonly after: Usage; readonly atRest: Usage };
  readonly loadCpuMicros: number;
  /** What other processes took of the machine, and its host, in cores. */
  readonly othersCores: number;
}

export interface SetupResult {
  readonly done: number;
  readonly failed: number;
  readonly seconds: number;
}

export interface LoginsResult extends SetupResult {
  /** Durations of logins in microseconds, as `Histogram` keeps them. */
  readonly counts: readonly number[];
}

export interface HeardResult extends SetupResult {
  /** How long after the start each control arrived, in microseconds, as `Histogram` keeps them. */
  readonly counts: readonly number[];
}

export interface FollowedResult {
  readonly events: number;
  readonly bytes: number;
  /** How long each event took to the first client, in microseconds, as `Histogram` keeps them. */
  readonly counts: readonly number[];
  /** Streams that the gateway has ended. */
  readonly ended: number;
}

export interface JobResults {
  readonly register: SetupResult;
  readonly vouch: SetupResult;
  readonly sample: { readonly answer: string };
  readonly load: LoadResult;
  readonly raw: LoadResult;
  readonly fill: SetupResult;
  readonly complete: SetupResult;
  readonly mixed: SetupResult;
  readonly listen: SetupResult;
  readonly hear: HeardResult;
  readonly 'hang-up': SetupResult;
  readonly follow: SetupResult;
  readonly followed: FollowedResult;
  readonly unfollow: FollowedResult;
  readonly logins: LoginsResult;
}
