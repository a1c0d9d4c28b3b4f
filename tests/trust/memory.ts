import { setTimeout as sleep } from 'node:timers/promises';
import type { RawClient } from '../../packages/grpc-server/src/testkit/raw-client.ts';
import { residentBytes } from '../fuzz/memory.ts';
import { allowAll, TestGateway } from '../harness/gateway.ts';
import type { Unread } from '../harness/unread-answers.ts';
import { leaveUnread } from '../harness/unread-answers.ts';
import { Chance } from './chance.ts';
import { loadEnv } from './mixed-load.ts';
import type { Limits, Outcome } from './part.ts';
import { isOver, unforeseenIn } from './part.ts';

const mebibyte = 2 ** 20;
/** The bounds of strangers and of one tenant, its agents, the open calls, and what the collector leaves for later. */
const mostGrowth = 700 * mebibyte;
const mostAgentMib = 16;

/**
 * A tenant and strangers fill the memory as far as they can: by agents with all the texts that they may have, and by
 * answers that nobody takes. The gateway stays within its bounds, goes on deciding, and starts again.
 */
export async function memory(limits: Limits): Promise<Outcome> {
  const chance = new Chance(limits.seed);
  const counts = { attacks: 0, agents: 0, connections: 0, 'MiB of most growth': 0 };
  const findings: string[] = [];
  const many = limits.most > 3;
  while (!isOver(limits, counts.attacks) && findings.length === 0) {
    const env = { ...loadEnv, SVC_MAX_AGENT_MIB_PER_ORG: String(mostAgentMib) };
    await using gateway = await TestGateway.start({ policies: { 'all.yaml': allowAll }, env });
    const victim = await gateway.register({ orgId: 'victim', agentId: 'victim' });
    const evil = await gateway.register({ orgId: 'evil', agentId: 'evil' });
    const before = await residentBytes(gateway.http);
    counts.agents += await fillWithAgents(gateway, findings);
    const kinds: readonly Unread[] = [
      { connections: many ? 60 : 20, calls: 900 + chance.below(1000), symbol: 'reeve.v1.PolicyService' },
      { connections: many ? 60 : 20, calls: 900 + chance.below(1000), symbol: 'x'.repeat(500) },
      { connections: many ? 60 : 20, calls: 900 + chance.below(1000), symbol: 'é'.repeat(250), agent: evil },
    ];
    const opened: RawClient[] = [];
    for (const unread of kinds) {
      for (const client of opened.splice(0)) client.destroy();
      opened.push(...(await leaveUnread(gateway.grpc, unread)));
      counts.connections += unread.connections;
      const grown = Math.round(((await residentBytes(gateway.http)) - before) / mebibyte);
      counts['MiB of most growth'] = Math.max(counts['MiB of most growth'], grown);
      if (grown > mostGrowth / mebibyte) findings.push(`the gateway has grown by ${grown} MiB`);
      if ((await gateway.check(victim)).decision !== 1) findings.push('a decision of another tenant fails');
      counts.attacks++;
      limits.say(`${counts.connections} connections that take nothing, grown by ${grown} MiB`);
    }
    for (const client of opened) client.destroy();
    findings.push(...unforeseenIn(gateway.output().stderr));
    await using again = await gateway.restart('SIGKILL', { env });
    if ((await again.check(victim)).decision !== 1) findings.push('nothing is decided after the next start');
  }
  return { counts, findings, notRun: [] };
}

const large = {
  metadata: Object.fromEntries(Array.from({ length: 64 }, (_, at) => [`key-${at}`, 'x'.repeat(1024)])),
  toolNames: Array.from({ length: 1000 }, (_, at) => `tool-${at}`.padEnd(64, '-')),
};

/** Registers agents until one is refused by the bound of its org. */
async function fillWithAgents(gateway: TestGateway, findings: string[]): Promise<number> {
  // Each takes about 130 KB.
  const most = mostAgentMib * 16;
  for (let at = 0; at < most; at++) {
    try {
      await gateway.register({ orgId: 'evil', agentId: `a${at}` }, large);
    } catch (error) {
      if (!String(error).includes('SVC_MAX_AGENT_MIB_PER_ORG')) findings.push(`an agent is refused: ${String(error)}`);
      return at;
    }
    if (at % 50 === 0) await sleep(0);
  }
  findings.push(`an org has ${most} agents of 130 KB, and SVC_MAX_AGENT_MIB_PER_ORG is ${mostAgentMib}`);
  return most;
}
