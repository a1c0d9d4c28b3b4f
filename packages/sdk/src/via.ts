import type { CheckActionRequest } from '@reeve/contract';
import { doorNames } from '@reeve/contract';
import type { doors } from '@reeve/contract/names';

/** Who asks for an agent that does not ask by itself: a proxy for MCP, one for model calls, or a hook. */
export type Door = (typeof doors)[number];

export interface Via {
  readonly door: Door;
  /** The MCP server, the upstream of the model, or the host of the hook. */
  readonly name?: string | undefined;
}

/** @internal */
export function wireViaOf({ door, name = '' }: Via): NonNullable<CheckActionRequest['via']> {
  return { door: doorNames.wireOf[door], name };
}
