import type { Answer } from '../../api/send.ts';
import { whatOf } from '../audit/entry-words.ts';

type Entry = Answer<'listLogs'>['items'][number];

type Denied = Pick<Entry, 'payload' | 'policy_rule' | 'reason'>;

export interface DenialGroup<Denial> {
  /** The newest of them. */
  readonly entry: Denial;
  readonly times: number;
}

/** Denials of the same for the same reason, told once, in the order of their newest. */
export function denialGroups<Denial extends Denied>(entries: readonly Denial[]): readonly DenialGroup<Denial>[] {
  const groups = new Map<string, DenialGroup<Denial>>();
  for (const entry of entries) {
    const key = JSON.stringify([whatOf(entry), entry.policy_rule, entry.reason]);
    const known = groups.get(key);
    groups.set(key, { entry: known?.entry ?? entry, times: (known?.times ?? 0) + 1 });
  }
  return [...groups.values()];
}
