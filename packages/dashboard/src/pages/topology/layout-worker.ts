import type { LayoutOrg } from './topology-layout.ts';
import { layoutTopology } from './topology-layout.ts';

/** Beside the page, which stays responsive however much there is to place. */
addEventListener('message', ({ data }: MessageEvent<readonly [id: number, orgs: readonly LayoutOrg[]]>) => {
  const [id, orgs] = data;
  postMessage([id, layoutTopology(orgs)]);
});
