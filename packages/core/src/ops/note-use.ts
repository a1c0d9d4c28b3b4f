import type { ActionType, CheckRequest, Via } from '../action/index.ts';
import { entranceOf } from '../action/index.ts';
import { redactText } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Agent, Agents, Family } from '../tenancy/index.ts';
import { AgentCoverage } from '../tenancy/index.ts';
import type { OpRecord } from './op.ts';
import type { Operations } from './operations.ts';

/** Which part of an agent's work an action belongs to, as coverage counts. */
const familyOf: Readonly<Record<ActionType, Family | null>> = {
  llm_call: 'model_calls',
  tool_call: 'tools',
  file_operation: 'tools',
  network_call: 'tools',
  process_exec: 'tools',
  agent_spawn: null,
  tool_result: null,
};

/**
 * Notes by which door an agent came and for what, at most once a minute. It waits until the decision is durable: one that
 * is made again has another time. The row is written later, aside from decisions.
 */
export function noteUse(
  { directory, journal }: Agents & Pick<Operations, 'journal'>,
  agent: Agent,
  { via, action }: Pick<CheckRequest, 'via' | 'action'>,
  now: EpochMs,
): void {
  const use = useOf(via, action.type);
  if (agent.coverage?.isDue(use.door, use.family, use.name, now) !== false)
    journal.onCommitted(noting(directory, agent, use, now));
}

/** Apart from `noteUse`, which few decisions go through: what a function may need later takes memory in every call of it. */
function noting(directory: Agents['directory'], agent: Agent, use: Use, now: EpochMs): () => void {
  return () => {
    if (note(agent, use, now)) directory.used.add(agent);
  };
}

/** Follows a decision of another gateway. That one writes the use. */
export function followUse({ directory }: Agents, { agent: id, via, actionType, updatedAt }: OpRecord): void {
  const agent = directory.find(id);
  if (agent !== undefined && actionType !== null) note(agent, useOf(via, actionType), updatedAt);
}

type Use = ReturnType<typeof useOf>;

function useOf(via: Via | null, type: ActionType) {
  const name = via === null ? '' : via.name;
  return { door: entranceOf(via), family: familyOf[type], name };
}

function note(agent: Agent, use: Use, at: EpochMs): boolean {
  const coverage = (agent.coverage ??= new AgentCoverage());
  if (!coverage.isDue(use.door, use.family, use.name, at)) return false;
  coverage.note({ ...use, shownName: redactText(use.name) }, at);
  return true;
}
