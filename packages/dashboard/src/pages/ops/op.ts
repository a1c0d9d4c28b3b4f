import { agentPath, idOfPart } from '@reeve/contract/names';
import type { Answer } from '../../api/send.ts';

/** An operation in the gateway's form. */
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

/** The state after an operator's action. Undefined if the gateway would refuse it or do nothing. */
export function outcomeOf(state: OpState, action: ControlAction): OpState | undefined {
  return moves[state][action];
}

/** The full address of an operation: `org/team/agent/trace:span`, with `-` for an empty part. */
export function keyOf({ agent, op_id }: Pick<Op, 'agent' | 'op_id'>): string {
  return `${agentPath(agent)}/${op_id}`;
}

/** The parts of such an address. Undefined if it is not one. */
export function partsOf(key: string): Pick<Op, 'agent' | 'op_id'> | undefined {
  const [org, team, agent_id, op_id, ...rest] = key.split('/');
  if (org === undefined || team === undefined || !agent_id || !op_id || rest.length > 0) return undefined;
  return { agent: { org_id: idOfPart(org), team_id: idOfPart(team), agent_id }, op_id };
}
