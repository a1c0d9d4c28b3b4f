import { canonicalJson, draftOf } from '../audit/index.ts';
import type { AgentId, EpochMs } from '../kernel/index.ts';
import { invalid, timestamp } from '../kernel/index.ts';
import type { FormerToken } from './agent.ts';
import { actorOf, tokenEnd } from './agent.ts';
import { delegationEnd } from './delegation-links.ts';
import { authenticateAgent } from './identify.ts';
import { newToken } from './agent-token.ts';
import { lifeFrom } from './register-agent.ts';
import type { Tenancy } from './tenancy.ts';

export interface RenewRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
}

export interface RenewedToken {
  readonly token: string;
  /** When the new token ends; null: never. */
  readonly expiresAt: EpochMs | null;
}

/** How long a token works on after it was replaced. */
const formerForMs = 60_000;
/** How many replaced tokens work on at once. Who renews more often loses the oldest. */
const mostFormer = 8;

/**
 * Gives an agent a new token with the life of its old one, which works on for a while: calls on their way have it. A
 * former token renews, too, so that an agent whose answer was lost is not.
 */
export function renewToken(gov: Tenancy, request: RenewRequest): RenewedToken {
  const agent = authenticateAgent(gov, request.agentId, request.token);
  const { record } = agent;
  if (tokenEnd(record, gov.sha256(request.token)) === undefined) {
    throw invalid('credential_token', 'is a JWT, which its issuer renews');
  }
  const now = gov.clock.now();
  const token = newToken(gov);
  const life = lifeFrom(now, record.tokenLife?.ttlSecs ?? null);
  // The token of a delegate ends with its delegation.
  const ends = [life.expiresAt, delegationEnd(gov.directory, agent)].filter((end) => end !== null);
  const expiresAt = ends.length === 0 ? null : Math.min(...ends);
  const replaced: FormerToken = { hash: record.tokenHash ?? '', until: now + formerForMs };
  const former = [replaced, ...(record.tokenLife?.former ?? [])].filter(({ until }) => until > now);
  gov.journal.apply({
    kind: 'agent_saved',
    agent: { ...record, tokenHash: gov.sha256(token), tokenLife: { ...life, former: former.slice(0, mostFormer) } },
  });
  gov.journal.record(
    draftOf({
      at: now,
      eventType: 'AgentTokenRenewed',
      lineage: agent.lineage,
      actor: actorOf(agent),
      payload: canonicalJson({ expires_at: expiresAt === null ? null : timestamp(expiresAt) }),
    }),
  );
  return { token, expiresAt };
}
