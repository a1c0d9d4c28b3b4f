/** What the common log holds: whatever no org owns. */
export type CommonFact =
  | { readonly kind: 'lane_opened'; readonly lane: number }
  | { readonly kind: 'cap_set'; readonly cap: number }
  | { readonly kind: 'credential_revoked'; readonly credential: string }
  | { readonly kind: 'everything_stopped' }
  /** An operation cost more than was free. */
  | { readonly kind: 'overdrawn' };

/** Why a charge is denied. */
export type Denial = 'revoked' | 'agent cap' | 'org cap' | 'global cap';

/** What a lane holds. A day is the one that is charged. */
export type LaneFact =
  | {
      readonly kind: 'charged';
      readonly op: string;
      readonly agent: string;
      readonly credential: string;
      readonly day: number;
      readonly amount: number;
      readonly at: number;
    }
  | {
      readonly kind: 'denied';
      readonly op: string;
      readonly agent: string;
      readonly credential: string;
      readonly day: number;
      readonly amount: number;
      readonly why: Denial;
      readonly at: number;
    }
  | { readonly kind: 'settled'; readonly op: string; readonly amount: number; readonly at: number }
  /** An operation that was stopped gives back what it had reserved. */
  | { readonly kind: 'released'; readonly op: string; readonly at: number }
  | { readonly kind: 'forgotten'; readonly op: string }
  | { readonly kind: 'org_cap_set'; readonly cap: number }
  | { readonly kind: 'share_taken'; readonly day: number; readonly amount: number }
  | { readonly kind: 'share_given_back'; readonly day: number; readonly amount: number };

/** What every commit has, of whichever log. */
interface Sealed {
  /** Counts within its log, from 1. */
  readonly version: number;
  /** The version of the common log that it rests on. Of a common commit: its own. */
  readonly common: number;
  /** Larger than that of everything that it rests on. */
  readonly moment: number;
  readonly previous: string;
  readonly hash: string;
}

export interface LaneCommit extends Sealed {
  readonly lane: number;
  readonly facts: readonly LaneFact[];
}

export interface CommonCommit extends Sealed {
  readonly lane: 'common';
  readonly facts: readonly CommonFact[];
}

export type AnyCommit = LaneCommit | CommonCommit;
