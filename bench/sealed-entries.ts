import type { SealedEntry } from '@reeve/core';
import { emptyChain, sealer } from '@reeve/core';
import { sha256 } from '../packages/gateway/src/adapters/crypto/node-crypto.ts';

export const orgs = 1000;
export const agentsPerOrg = 10;
const payload = `{"action":{"args":{"query":"${'x'.repeat(200)}"},"tool":"search","type":"tool_call"},"op_state":"running"}`;

/** A chain of entries as the gateway writes them, from the one numbered `from`, for a thousand orgs in turn. */
export function sealedEntries(length: number, from = 0, after = emptyChain): SealedEntry[] {
  const seal = sealer(sha256);
  let head = after;
  return Array.from({ length }, (_, at) => {
    const n = from + at;
    const org = n % orgs;
    const agent = `agent-${org}-${Math.floor(n / orgs) % agentsPerOrg}`;
    const registration = n % 5000 === 0;
    const entry = seal(
      {
        at: 1_760_000_000_000 + n,
        eventType: registration ? 'AgentRegistered' : 'ActionAllowed',
        lineage: {
          agent_id: agent,
          depth: 0,
          org_id: `org-${org}`,
          parent_agent_id: null,
          root_agent_id: agent,
          team_id: 'core',
        },
        actor: { id: `org-${org}/core/${agent}`, kind: 'agent', label: '' },
        opId: registration ? null : `trace-${n}:span`,
        traceId: registration ? null : `trace-${n}`,
        spanId: registration ? null : 'span',
        decision: registration ? null : 'allow',
        reason: registration ? null : 'allowed by rule bench/tools',
        policyRule: registration ? null : 'bench/tools',
        policyVersion: '0123456789abcdef',
        payload: payload as never,
      },
      head,
    );
    head = { seq: entry.seq, hash: entry.hash };
    return entry;
  });
}
