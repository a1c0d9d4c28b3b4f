import { setTimeout as sleep } from 'node:timers/promises';
import type { RouteOutput, Routes } from '@reeve/contract/http';
import { Cluster } from '../cluster/storm/cluster.ts';
import type { ClusterNode } from '../cluster/storm/node.ts';
import { makeKey, tokenOf } from '../harness/credentials.ts';
import { allowAll, bootstrapKey } from '../harness/gateway.ts';
import { LateRequest } from '../harness/late-request.ts';
import { Chance } from './chance.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver } from './part.ts';

/** A gateway that is silent for longer than `SVC_TAKEOVER_SECS` counts as lost, and ends itself. */
const longestSilenceMs = 2900;
const newKey = { label: 'made late', scopes: ['read', 'write', 'admin'] };

/**
 * Stalls the links of a gateway at any moment around a request, while its credential ends at another gateway. Once that
 * is answered, the log holds nothing more by that credential.
 */
export async function stall(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const counts = { stalls: 0, refused: 0, unavailable: 0, 'done before': 0 };
  const findings: string[] = [];
  await using cluster = await Cluster.start({ size: 2, policies: { 'all.yaml': allowAll } });
  const [one, two] = cluster.nodes;
  if (one === undefined || two === undefined) throw new Error('there are not two gateways');
  while (!isOver(limits, counts.stalls) && findings.length === 0) {
    // Short runs have short silences.
    const longest = limits.most > 10 ? longestSilenceMs : 500;
    const { statuses, late } = await attack(one, two, chance, longest);
    counts.stalls++;
    for (const status of statuses) {
      if (status === 401) counts.refused++;
      // A gateway that ends itself answers nobody.
      else if (status === 503 || Number.isNaN(status)) counts.unavailable++;
      else if (status === 201) counts['done before']++;
      else findings.push(`an answer with status ${status}`);
    }
    if (late.length > 0) findings.push(`a revoked key did this after its end: ${late.join(', ')}`);
    findings.push(...cluster.surprises);
    limits.say(`${counts.stalls} stalls, ${counts.refused} refused, ${findings.length} findings`);
  }
  return { counts, findings, notRun: [] };
}

async function attack(one: ClusterNode, two: ClusterNode, chance: Chance, longestMs: number) {
  const bound = chance.below(2) === 0 ? { org_id: 'acme' } : {};
  const { key, id } = await makeKey(one.gateway, { scopes: ['admin'], ...bound });
  const bearer = chance.below(2) === 0 ? key : await tokenOf(one.gateway, key);
  const links = [two.toPostgres, two.toNats].filter(() => chance.below(4) > 0);
  const create = { method: 'POST', path: '/api/v1/iam/api-keys' };
  const begun = await LateRequest.begin(two.http, create, bearer, newKey);
  await sleep(chance.below(50));
  for (const link of links) link.silence();
  const later = await LateRequest.begin(two.http, create, bearer, newKey);
  const revoked = one.gateway.api.post(`/api/v1/iam/api-keys/${id}/revoke`, bootstrapKey);
  await sleep(chance.below(20));
  for (const request of [begun, later]) request.complete();
  await revoked;
  await sleep(chance.below(longestMs));
  for (const link of links) link.mend();
  const statuses = [(await begun.answer).status, (await later.answer).status];
  return { statuses, late: await doneAfterEnd(one, id) };
}

/** What the log has by a key after the entry that it was revoked. */
async function doneAfterEnd({ gateway }: ClusterNode, id: string): Promise<string[]> {
  const { body } = await gateway.api.get<RouteOutput<Routes['listLogs']>>('/api/v1/logs?per_page=100', bootstrapKey);
  const end = body.items.findIndex(
    ({ event_type: type, payload }) => type === 'ApiKeyRevoked' && payload['key_id'] === id,
  );
  if (end < 0) return ['nothing says that it was revoked'];
  return body.items.slice(0, end).flatMap(({ actor, event_type: type }) => (actor.id === id ? [type] : []));
}
