import { useMemo, useState } from 'react';
import type { OrgGroup } from './topology-groups.ts';
import { openAtFirst, openForSearch } from './topology-groups.ts';

/**
 * The open orgs and teams: those that somebody chose, else what suits the number of agents. What opened by itself does
 * not close when more agents come.
 */
export function useOpenKeys(
  orgs: readonly OrgGroup[],
  chosen: readonly string[] | undefined,
  isNarrowed: boolean,
  viewKey: string,
): ReadonlySet<string> {
  const [kept, setKept] = useState<{ readonly viewKey: string; readonly keys: ReadonlySet<string> }>();
  const suggested = isNarrowed ? openForSearch(orgs) : openAtFirst(orgs);
  const before = kept?.viewKey === viewKey ? kept.keys : undefined;
  if (before === undefined || [...suggested].some((key) => !before.has(key))) {
    setKept({ viewKey, keys: before === undefined ? suggested : new Set([...before, ...suggested]) });
  }
  const keys = before ?? suggested;
  return useMemo(() => (chosen === undefined ? keys : new Set(chosen)), [chosen, keys]);
}
