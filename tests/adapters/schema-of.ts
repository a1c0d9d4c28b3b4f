import type { ToolSpec } from './table.ts';

/** The JSON schema of a tool's arguments. */
export function schemaOf(args: ToolSpec['args']) {
  return {
    type: 'object' as const,
    properties: Object.fromEntries(Object.entries(args).map(([name, type]) => [name, { type }])),
    required: Object.keys(args),
    additionalProperties: false as const,
  };
}
