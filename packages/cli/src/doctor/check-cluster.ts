import type { RouteOutput, Routes } from '@reeve/contract/http';
import type { GatewayClient } from '../http/gateway-client.ts';
import { ProblemError } from '../http/problem-error.ts';
import { counted } from '../output/duration.ts';
import type { Finding } from './finding.ts';
import { failed, messageOf, ok, skipped, warning } from './finding.ts';

const name = 'cluster';

type Gateway = RouteOutput<Routes['listGateways']>['gateways'][number];

/** How many gateways act as one, whether one is lost, and whether all have the same version. */
export async function checkCluster(client: GatewayClient): Promise<Finding> {
  try {
    const { gateways } = await client.call('listGateways', {});
    // A gateway of another version may answer in another form.
    return Array.isArray(gateways) && gateways.length > 0 ? clusterFinding(gateways) : notListed();
  } catch (error) {
    const status = error instanceof ProblemError ? error.problem.status : 0;
    if (status === 403) return clusterNeedsAdmin();
    return status === 404 ? notListed() : failed(name, messageOf(error), 'Look at the log of the gateway.');
  }
}

function clusterFinding(gateways: readonly Gateway[]): Finding {
  const lost = gateways.filter(({ state }) => state === 'lost');
  // A lost gateway serves nobody, so its version does not matter.
  const running = gateways.filter(({ state }) => state !== 'lost');
  const versions = [...new Set(running.map(({ version }) => version))].toSorted();
  const isMixed = versions.length > 1;
  const detail = `${statesText(gateways)}${isMixed ? `; versions ${versions.join(', ')}` : ''}`;
  const advice = [
    ...(lost.length === 0
      ? []
      : [`Start ${lost.length === 1 ? 'it' : 'them'} again, or others: they take the free places.`]),
    ...(isMixed ? ['Finish the upgrade: let all have the same version.'] : []),
  ].join(' ');
  return advice === '' ? ok(name, detail) : warning(name, detail, advice);
}

function statesText(gateways: readonly Gateway[]): string {
  const all = counted(gateways.length, 'gateway');
  const ids = (state: Gateway['state']) => gateways.filter((one) => one.state === state).map(({ id }) => id);
  const [active, leaving, lost] = [ids('active'), ids('leaving'), ids('lost')];
  if (active.length === gateways.length) return `${all}, ${gateways.length === 1 ? '' : 'all '}active`;
  const parts = [
    `${active.length} active`,
    ...(leaving.length === 0 ? [] : [`${leaving.length} leaving`]),
    ...(lost.length === 0 ? [] : [`${lost.length} lost (${lost.join(', ')})`]),
  ];
  return `${all}: ${parts.join(', ')}`;
}

function notListed(): Finding {
  return skipped(name, 'the gateway does not list those that act as one', 'It may be of an older version: update it.');
}

export function clusterNeedsAdmin(): Finding {
  return skipped(name, 'the credential does not suffice', 'Use one with the scope admin that is bound to no tenant.');
}
