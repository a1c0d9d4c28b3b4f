import { agentPath, idOfPart } from '@reeve/contract/names';
import type { Answer } from '../../api/send.ts';

/** An operation as the gateway tells of it. */
export type Op = Answer<'getOp'>;
export type OpState = Op['state'];
export type Control = NonNullable<Op['control']>;
export type ControlAction = Control['action'];
export type Actor = Control['actor'];

const moves: Readonly<Record<OpState, Partial<Record<ControlAction, OpState>>>> = {
  pending: { terminate: 'terminated' },
  running: { pause: 'paused', terminate: 'terminated' },
  paused: { resume: 'running', terminate: 'terminated' },
  completing: {},
  terminated: {},
};

/** What an operator's action makes of a state; undefined where the gateway would refuse it or do nothing. */
export function outcomeOf(state: OpState, action: ControlAction): OpState | undefined {
  return moves[state][action];
}

/** The address of an operation that is right for every caller: `org/team/agent/trace:span`, `-` for an empty part. */
export function keyOf({ agent, op_id }: Pick<Op, 'agent' | 'op_id'>): string {
  return `${agentPath(agent)}/${op_id}`;
}

/** The parts of such an address; undefined where it is none. */
export function partsOf(key: string): Pick<Op, 'agent' | 'op_id'> | undefined {
  const [org, team, agent_id, op_id, ...rest] = key.split('/');
  if (org === undefined || team === undefined || !agent_id || !op_id || rest.length > 0) return undefined;
  return { agent: { org_id: idOfPart(org), team_id: idOfPart(team), agent_id }, op_id };
}
