import { ActionType, Decision } from './gen/reeve/v1/common.ts';
import { CompleteActionRequest_Outcome, Via_Door } from './gen/reeve/v1/policy_service.ts';
import type { doors } from './names.ts';

/** The numbers of an enum on the wire, and the names by which code on both sides speaks of them. */
export interface WireNames<Wire extends number, Name extends string> {
  /** Undefined for what is unspecified, or not known yet. */
  nameOf(wire: number): Name | undefined;
  readonly wireOf: Readonly<Record<Name, Wire>>;
}

/** A number without a name, and a name without a number, do not compile. */
function wireNames<Wire extends number, Name extends string>(
  names: Readonly<Record<Wire, Name>>,
): WireNames<Wire, Name> {
  const byWire: Readonly<Record<number, Name | undefined>> = names;
  const pairs = Object.entries<Name>(names).map(([wire, name]) => [name, Number(wire)] as const);
  return { nameOf: (wire) => byWire[wire], wireOf: Object.fromEntries(pairs) as Record<Name, Wire> };
}

type Specified<Wire extends number> = Exclude<Wire, 0>;

export const decisionNames = wireNames<Specified<Decision>, 'allow' | 'deny' | 'pending'>({
  [Decision.ALLOW]: 'allow',
  [Decision.DENY]: 'deny',
  [Decision.PENDING]: 'pending',
});

export const actionTypeNames = wireNames<
  Specified<ActionType>,
  'llm_call' | 'tool_call' | 'file_operation' | 'network_call' | 'process_exec' | 'agent_spawn' | 'tool_result'
>({
  [ActionType.LLM_CALL]: 'llm_call',
  [ActionType.TOOL_CALL]: 'tool_call',
  [ActionType.FILE_OPERATION]: 'file_operation',
  [ActionType.NETWORK_CALL]: 'network_call',
  [ActionType.PROCESS_EXEC]: 'process_exec',
  [ActionType.AGENT_SPAWN]: 'agent_spawn',
  [ActionType.TOOL_RESULT]: 'tool_result',
});

export const outcomeNames = wireNames<Specified<CompleteActionRequest_Outcome>, 'succeeded' | 'failed' | 'cancelled'>({
  [CompleteActionRequest_Outcome.SUCCEEDED]: 'succeeded',
  [CompleteActionRequest_Outcome.FAILED]: 'failed',
  [CompleteActionRequest_Outcome.CANCELLED]: 'cancelled',
});

export const doorNames = wireNames<Specified<Via_Door>, (typeof doors)[number]>({
  [Via_Door.MCP]: 'mcp',
  [Via_Door.MODEL]: 'model',
  [Via_Door.HOOK]: 'hook',
});
