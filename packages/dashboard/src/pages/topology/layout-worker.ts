import type { LayoutOrg } from './topology-layout.ts';
import { layoutTopology } from './topology-layout.ts';

/** Runs beside the page, which stays responsive with any number of agents. */
addEventListener('message', ({ data }: MessageEvent<readonly [id: number, orgs: readonly LayoutOrg[]]>) => {
  const [id, orgs] = data;
  postMessage([id, layoutTopology(orgs)]);
});
