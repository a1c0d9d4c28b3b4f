import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent } from '../agent.ts';
import type { DelegateOptions } from '../delegate-options.ts';
import { forTheSame } from '../on-behalf-of.ts';

/** What a sub-agent may do at most. It never may what the agent that started it may not. */
export interface SubagentLimits extends Omit<DelegateOptions, 'childId' | 'ttl'> {
  /** How long it may act at most, in seconds. Default an hour. It ends with its work in any case. */
  readonly ttl?: number | undefined;
  /** Its id in the team. Otherwise that of the agent that started it, a dot and the name of the sub-agent. */
  readonly childId?: string | undefined;
}

const usualTtlSecs = 3600;
const longestId = 128;

/** A sub-agent at work. */
export interface Subagent {
  /** For the same user as the agent that started it. */
  readonly agent: Agent;
  /** Does a part of its work. Until that ends, whatever was governed for an agent above is done by the sub-agent. */
  within<Result>(work: () => Result): Result;
  /** Its work is over. */
  end(): Promise<void>;
}

/**
 * The keys of those at work. To delegate to one again would end the token that it works with. An agent has an object of its
 * own for each user, and the ids are those of the team.
 */
const atWork = new Set<string>();

/** Lets a sub-agent act for the agent until its work is over. Several of one name at once each have limits of their own. */
export async function beginSubagent(agent: Agent, name: string, limits: SubagentLimits): Promise<Subagent> {
  const starter = actingAs(agent);
  const { childId: wanted = idOf(starter, name), ttl = usualTtlSecs, ...further } = limits;
  const keyOfChild = (agentId: string) => keyOf({ id: { ...starter.id, agentId } });
  let childId = wanted;
  for (let number = 2; atWork.has(keyOfChild(childId)); number++) childId = `${wanted}-${number}`;
  const key = keyOfChild(childId);
  atWork.add(key);
  const delegate = await starter.delegate({ name, ...further, childId, ttl }).catch((error: unknown) => {
    atWork.delete(key);
    throw error;
  });
  let isOver = false;
  const end = async () => {
    if (isOver) return;
    isOver = true;
    // What it owes is reported first. If the gateway is away, it ends by time.
    await delegate.close().catch(() => {});
    await starter.revokeDelegation(childId).catch(() => {});
    atWork.delete(key);
  };
  const subagent = forTheSame(starter, delegate);
  const others = [...(acting.getStore() ?? [])].map(([other]) => [other, subagent] as const);
  const places = new Map([...others, [keyOf(agent), subagent], [keyOf(starter), subagent]]);
  return { agent: subagent, within: (work) => acting.run(places, work), end };
}

/** The id of a sub-agent: two agents of a team may have sub-agents of one name. */
function idOf({ id }: Agent, name: string): string {
  return `${id.agentId}.${name.replaceAll(/[^A-Za-z0-9._-]+/g, '-')}`.slice(0, longestId);
}

/** Which delegate acts in place of an agent, by the key of that agent, in the work of a sub-agent. */
const acting = new AsyncLocalStorage<ReadonlyMap<string, Agent>>();

function keyOf({ id: { orgId, teamId, agentId } }: Pick<Agent, 'id'>): string {
  return `${orgId}/${teamId}/${agentId}`;
}

/** Who acts where this agent is to: in the work of one of its sub-agents, the sub-agent, for the same user. */
export function actingAs(agent: Agent): Agent {
  const delegate = acting.getStore()?.get(keyOf(agent));
  return delegate === undefined ? agent : forTheSame(agent, delegate);
}

/**
 * Does the work of a sub-agent. Until it ends, whatever was governed for the agent is done by its delegate, also in what the
 * work calls: `govern(agent, tools)` need not know who runs them.
 */
export async function asSubagent<Result>(
  agent: Agent,
  name: string,
  limits: SubagentLimits,
  work: (agent: Agent) => Result | Promise<Result>,
): Promise<Result> {
  const subagent = await beginSubagent(agent, name, limits);
  try {
    return await subagent.within(() => Promise.resolve(work(subagent.agent)));
  } finally {
    await subagent.end();
  }
}
