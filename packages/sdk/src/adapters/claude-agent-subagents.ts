import type { Agent } from '../agent.ts';
import { ReeveInvalidRequest } from '../errors.ts';
import type { Subagent, SubagentLimits } from './subagents.ts';
import { beginSubagent } from './subagents.ts';

type Named = Readonly<Record<string, Agent | SubagentLimits>>;

/** Who acts in a query of Claude Code: the agent, or what its sub-agents act as, by the type and the id that it tells of. */
export function claudeSubagents(agent: Agent, named: Named = {}) {
  /** The types that hooks told, by the id of the sub-agent. */
  const types = new Map<string, string>();
  /** Those that act as delegates, by id and type: what comes with another type is another sub-agent. */
  const atWork = new Map<string, { readonly id: string; readonly delegate: Promise<Subagent> }>();

  const end = async (id = '') => {
    types.delete(id);
    const ended = [...atWork].filter(([, each]) => each.id === id);
    for (const [key] of ended) atWork.delete(key);
    await Promise.all(ended.map(([, { delegate }]) => delegate.then((each) => each.end()).catch(() => {})));
  };

  const delegateOf = (id: string, type: string, limits: SubagentLimits): Promise<Subagent> => {
    const key = JSON.stringify([id, type]);
    const delegate = atWork.get(key)?.delegate ?? beginSubagent(agent, type, limits);
    atWork.set(key, { id, delegate });
    // If it fails, it may be given another one with its next use.
    delegate.catch(() => atWork.delete(key));
    return delegate;
  };

  /** Only hooks tell the type. Without one it is what they told of this id before. */
  const whoActs = async (id = '', type = types.get(id)): Promise<Agent> => {
    if (type === undefined) {
      if (id === '' || Object.keys(named).length === 0) return agent;
      throw new ReeveInvalidRequest('no hook has told the type of this sub-agent, so nobody knows what it may do');
    }
    if (id !== '') types.set(id, type);
    // Types of sub-agents come from files of the project, too.
    const as = Object.hasOwn(named, type) ? named[type] : undefined;
    if (as === undefined || isAgent(as)) return as ?? agent;
    if (id === '') throw new ReeveInvalidRequest('this sub-agent has no id, so nobody can tell it from others');
    return (await delegateOf(id, type, as)).agent;
  };

  // Each that is at work has told its type.
  return { whoActs, end, endAll: () => Promise.all([...types.keys()].map(end)) };
}

function isAgent(named: Agent | SubagentLimits): named is Agent {
  return 'delegate' in named;
}
