import { transitionsOf } from './lifecycle.ts';
import type { Transition } from './lifecycle.ts';
import type { Entry } from './log.ts';

/** A follower of the event stream, over all of its connections. */
export interface Followed {
  readonly name: string;
  /** The only org that it may see, if it is bound to one. */
  readonly org?: string;
  /** It asked for all events of everybody, so that no id may be missing. */
  readonly seesAll: boolean;
  /** The id that it started after. */
  readonly cursor: number;
  /** How often it was told that events are gone. */
  readonly gaps: number;
  /** In the order of arrival. Other events than transitions have no `transition`. */
  readonly events: readonly { readonly id: number; readonly transition?: Transition }[];
}

/** Each follower, from before the first operation on, saw each transition of the log once and in order. */
export function followerFaults(follower: Followed, entries: readonly Entry[]): string[] {
  const { name, org, seesAll, cursor, gaps, events } = follower;
  const faults: string[] = [];
  if (gaps > 0) faults.push(`${name} was told ${gaps} times that events are gone`);
  let last = cursor;
  for (const { id } of events) {
    if (id <= last) faults.push(`${name} saw event ${id} after event ${last}`);
    else if (seesAll && id !== last + 1) faults.push(`${name} missed the events between ${last} and ${id}`);
    last = id;
  }
  const seen = events.flatMap(({ transition }) => transition ?? []);
  const logged = transitionsOf(entries).filter(({ op }) => org === undefined || op.startsWith(`${org}/`));
  const at = logged.findIndex(({ op, state }, nth) => seen[nth]?.op !== op || seen[nth]?.state !== state);
  if (at !== -1) faults.push(`${name}: transition ${at} is ${text(logged[at])}, and it saw ${text(seen[at])}`);
  else if (seen.length > logged.length)
    faults.push(`${name} saw ${text(seen[logged.length])}, which is not in the log`);
  return faults;
}

function text(transition: Transition | undefined): string {
  return transition === undefined ? 'nothing' : `${transition.op} ${transition.state}`;
}
