import type { ActionType, CheckRequest } from '../action/index.ts';
import { entranceOf } from '../action/index.ts';
import { redactText } from '../audit/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { Agent, Agents, Family } from '../tenancy/index.ts';
import { AgentCoverage } from '../tenancy/index.ts';

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

/** Notes by which door an agent came and for what, at most once a minute. The rest is written aside. */
export function noteUse(
  { directory }: Agents,
  agent: Agent,
  { via, action }: Pick<CheckRequest, 'via' | 'action'>,
  now: EpochMs,
): void {
  const coverage = (agent.coverage ??= new AgentCoverage());
  const door = entranceOf(via);
  const family = familyOf[action.type];
  const name = via === null ? '' : via.name;
  if (!coverage.isDue(door, family, name, now)) return;
  coverage.note({ door, family, name, shownName: redactText(name) }, now);
  directory.used.add(agent);
}
