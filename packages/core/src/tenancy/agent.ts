import type { Width } from '../access/index.ts';
import type { Actor, Lineage } from '../audit/index.ts';
import { redactText } from '../audit/index.ts';
import type { AgentId, AgentKey, EpochMs } from '../kernel/index.ts';
import { agentKey, equalInConstantTime, rememberingOf } from '../kernel/index.ts';
import type { AgentCoverage } from './agent-coverage.ts';

/** The durable part of an agent. */
export interface AgentRecord {
  readonly id: AgentId;
  /** SHA-256 of the credential token; null after deregistration. */
  readonly tokenHash: string | null;
  /** Absent: the token never expires, and no other one works beside it. */
  readonly tokenLife?: TokenLife;
  readonly name: string;
  readonly framework: string;
  readonly version: string;
  readonly parent: AgentId | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly toolNames: readonly string[];
  readonly registeredAt: EpochMs;
  readonly suspension: Suspension | null;
  /** The agent has opened a control stream since its registration. */
  readonly controlled: boolean;
  /**
   * The API keys and accounts that have registered the agent, without those derived from one of them. They stay as long
   * as the agent is known, so that registering it again with another credential hides none of them.
   */
  readonly registeredWith: readonly string[];
}

/** How long the token of an agent works. */
export interface TokenLife {
  /** How long each new token works; null: always. */
  readonly ttlSecs: number | null;
  /** When the present one ends; null: never. */
  readonly expiresAt: EpochMs | null;
  /** Tokens that it has replaced, which work on for a while, the newest first. */
  readonly former: readonly FormerToken[];
}

export interface FormerToken {
  readonly hash: string;
  readonly until: EpochMs;
}

export interface Suspension {
  readonly at: EpochMs;
  readonly reason: string;
  /** The width of the widest credential that asked for the suspension. */
  readonly width: Width;
}

/** An agent known to the directory: its record, and its place in the tree. */
export interface Agent {
  readonly key: AgentKey;
  /** The order in which agents became known here. Lists are paged by it. */
  readonly ordinal: number;
  readonly record: AgentRecord;
  /** How many bytes its names, metadata and tools take. */
  readonly bytes: number;
  readonly lineage: Lineage;
  /** When the agent was last heard, for people. */
  lastSeenAt: EpochMs;
  /** The agent has not confirmed a stop in time. It gets no answers until it does or an operator resumes it. */
  blocked: boolean;
  /** When the agent was last heard, on the monotonic clock; at the start, if it was not heard since. */
  aliveAt: number;
  /** The agent has been silent for so long that operations of it are stale. */
  silent: boolean;
  /** It was heard here last, and not at another gateway. */
  isHere: boolean;
  /** How it uses the gateway; null if no check of it is known. */
  coverage: AgentCoverage | null;
}

/** For the directory, whose indexes must fit. */
export type MutableAgent = { -readonly [Member in keyof Agent]: Agent[Member] };

export function isRegistered(agent: Pick<Agent, 'record'>): boolean {
  return agent.record.tokenHash !== null;
}

/** An agent that has left may still be known. Whoever asks for what it is finds nobody. */
export function findRegistered<Known extends Pick<Agent, 'record'>>(
  directory: { find: (id: AgentId) => Known | undefined },
  id: AgentId,
): Known | undefined {
  const agent = directory.find(id);
  return agent !== undefined && isRegistered(agent) ? agent : undefined;
}

/** Until when this hash is of a token of the agent; null: always, undefined: it is of none. */
export function tokenEnd({ tokenHash, tokenLife }: AgentRecord, hash: string): EpochMs | null | undefined {
  if (tokenHash !== null && equalInConstantTime(hash, tokenHash)) return tokenLife?.expiresAt ?? null;
  return tokenLife?.former.find((former) => equalInConstantTime(former.hash, hash))?.until;
}

/** The agent as an actor in audit entries. */
export function actorOf({ record }: Pick<Agent, 'record'>): Actor {
  return actorOfRecord(record);
}

/** Records never change. They may be large, so nothing but the directory keeps them. */
const actorOfRecord = rememberingOf(({ id, name }: AgentRecord): Actor => {
  return { id: agentKey(id), kind: 'agent', label: redactText(name) };
});

/** An agent known only by its ids. */
export function unregisteredAgent(id: AgentId): AgentRecord {
  return {
    id,
    tokenHash: null,
    name: '',
    framework: '',
    version: '',
    parent: null,
    metadata: {},
    toolNames: [],
    registeredAt: 0,
    registeredWith: [],
    suspension: null,
    controlled: false,
  };
}
