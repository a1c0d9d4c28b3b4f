export const doorIds = [
  'sdk',
  'mcp-stdio',
  'mcp-http',
  'openai',
  'anthropic',
  'claude-code',
  'codex',
  'cursor',
  'gemini-cli',
] as const;

/** A way in which an agent comes under the gateway. */
export type DoorId = (typeof doorIds)[number];
