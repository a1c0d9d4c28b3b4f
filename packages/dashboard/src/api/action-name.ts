import type { Answer } from './send.ts';

type ActionType = NonNullable<Answer<'getOp'>['action_type']>;

const actions: Readonly<Record<ActionType, string>> = {
  llm_call: 'LLM call',
  tool_call: 'Tool call',
  file_operation: 'File',
  network_call: 'Network',
  process_exec: 'Process',
  agent_spawn: 'Spawn',
  tool_result: 'Tool result',
};

/** The kind of action in words. Undefined until the first check. */
export function actionName(type: ActionType | null): string | undefined {
  return type === null ? undefined : (actions[type] ?? type);
}
