import type { CommonFact } from './lane-facts.ts';
import type { Rules } from './lane-rules.ts';

/** What everybody rests on, at one version of the common log. */
export interface CommonState {
  readonly version: number;
  readonly cap: number;
  /** Counts how often all shares became void. */
  readonly epoch: number;
  readonly stops: number;
  readonly revoked: ReadonlySet<string>;
  readonly lanes: ReadonlySet<number>;
}

export const emptyCommon: CommonState = {
  version: 0,
  cap: 0,
  epoch: 0,
  stops: 0,
  revoked: new Set(),
  lanes: new Set(),
};

export function commonAfter(before: CommonState, fact: CommonFact, { lowerCapVoids }: Rules): CommonState {
  const next = { ...before, version: before.version + 1 };
  switch (fact.kind) {
    case 'lane_opened':
      return { ...next, lanes: new Set([...before.lanes, fact.lane]) };
    case 'cap_set': {
      const isVoid = fact.cap < before.cap && lowerCapVoids;
      return { ...next, cap: fact.cap, epoch: before.epoch + (isVoid ? 1 : 0) };
    }
    case 'credential_revoked':
      return { ...next, revoked: new Set([...before.revoked, fact.credential]) };
    case 'everything_stopped':
      return { ...next, stops: before.stops + 1 };
    case 'overdrawn':
      return { ...next, epoch: before.epoch + 1 };
  }
}
