/** How checks of an agent come: it asks by itself, or a proxy for MCP, one for model calls, or a hook asks for it. */
export const entrances = ['sdk', 'mcp', 'model', 'hook'] as const;

export type Entrance = (typeof entrances)[number];
