import { hookHostNames } from '@reeve/contract/names';

export const doorIds = [
  'sdk',
  'python',
  'grpc',
  'langchain',
  'openai-agents',
  'ai',
  'claude-agent',
  'langchain-python',
  'openai-agents-python',
  'crewai',
  'pydantic-ai',
  'mcp-stdio',
  'mcp-http',
  'openai',
  'anthropic',
  ...hookHostNames,
] as const;

/** A way in which an agent comes under the gateway. */
export type DoorId = (typeof doorIds)[number];
