import type { Width } from '../access/index.ts';
import type { Actor, Lineage } from '../audit/index.ts';
import { redactText } from '../audit/index.ts';
import type { AgentId, AgentKey, EpochMs } from '../kernel/index.ts';

/** What is durable about an agent. */
export interface AgentRecord {
  readonly id: AgentId;
  /** SHA-256 of the credential token; null after deregistration. */
  readonly tokenHash: string | null;
  readonly name: string;
  readonly framework: string;
  readonly version: string;
  readonly parent: AgentId | null;
  readonly metadata: Readonly<Record<string, string>>;
  readonly toolNames: readonly string[];
  readonly registeredAt: EpochMs;
  readonly suspension: Suspension | null;
  /** It has opened a control stream since it was registered. */
  readonly controlled: boolean;
  /**
   * The API keys and accounts that have registered it, without those that come from one of them. They are kept for as
   * long as it is known, so that registering it once more with another credential hides none of them.
   */
  readonly registeredWith: readonly string[];
}

export interface Suspension {
  readonly at: EpochMs;
  readonly reason: string;
  /** How wide the widest credential was that asked for it. */
  readonly width: Width;
}

/** An agent known to the directory: its record, and its place in the tree. */
export interface Agent {
  readonly key: AgentKey;
  /** Its place in the order in which agents became known here: lists are cut by it. */
  readonly ordinal: number;
  record: AgentRecord;
  lineage: Lineage;
  lastSeenAt: EpochMs;
  /** It has not confirmed a stop in time, and is not answered until it does or an operator resumes it. */
  blocked: boolean;
  /** When it was last heard of, on the clock that never jumps; null: not since the gateway started. */
  aliveAt: number | null;
  /** Nothing was heard of it for so long that what it runs is stale. */
  silent: boolean;
}

export function isRegistered(agent: Agent): boolean {
  return agent.record.tokenHash !== null;
}

/** The agent as the one who acts, in audit entries. */
export function actorOf(agent: Agent): Actor {
  const known = actors.get(agent.record);
  if (known !== undefined) return known;
  const actor: Actor = { id: agent.key, kind: 'agent', label: redactText(agent.record.name) };
  actors.set(agent.record, actor);
  return actor;
}

/** Records never change, so what is made from one is made once. */
const actors = new WeakMap<AgentRecord, Actor>();

/** An agent of which nothing is known but its ids. */
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
