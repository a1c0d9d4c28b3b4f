import { agentPath } from '@reeve/contract/names';
import { useEffect, useState } from 'react';
import type { OrgGroup } from './topology-groups.ts';
import type { LayoutOrg, Rectangle } from './topology-layout.ts';

export interface Layout {
  readonly places: ReadonlyMap<string, Rectangle>;
  /** What was open in this layout. */
  readonly open: ReadonlySet<string>;
}

let started: Worker | undefined;

/** One worker per tab, from the first graph on. */
function layoutWorker(): Worker {
  started ??= new Worker(new URL('layout-worker.ts', import.meta.url), { type: 'module' });
  return started;
}

/** The place of everything, computed beside the page. The former layout stays until the next one is ready. */
export function useLayout(orgs: readonly OrgGroup[], open: ReadonlySet<string>): Layout | undefined {
  const [layout, setLayout] = useState<Layout>();
  // Changed numbers move nothing.
  const outline = JSON.stringify([[...open], outlineOf(orgs, open)]);
  useEffect(() => {
    const worker = layoutWorker();
    const id = Math.random();
    const [asked, wanted] = JSON.parse(outline) as [string[], LayoutOrg[]];
    const take = ({ data }: MessageEvent<readonly [id: number, places: Layout['places']]>) => {
      if (data[0] === id) setLayout({ places: data[1], open: new Set(asked) });
    };
    worker.addEventListener('message', take);
    worker.postMessage([id, wanted]);
    return () => worker.removeEventListener('message', take);
  }, [outline]);
  return layout;
}

function outlineOf(orgs: readonly OrgGroup[], open: ReadonlySet<string>): LayoutOrg[] {
  return orgs.map((org) => {
    if (!open.has(org.key)) return { id: org.key };
    const teams = org.teams.map((team) => {
      if (!open.has(team.key)) return { id: team.key };
      const agents = team.members.map((agent) => ({
        id: agentPath(agent),
        parent: agent.parent === null ? null : agentPath(agent.parent),
      }));
      return { id: team.key, agents };
    });
    return { id: org.key, teams };
  });
}
