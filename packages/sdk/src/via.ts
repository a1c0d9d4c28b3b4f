import type { CheckActionRequest } from '@reeve/contract';
import { Via_Door as WireDoor } from '@reeve/contract';

/** Who asks for an agent that does not ask by itself: a proxy for MCP, one for model calls, or a hook. */
export type Door = 'mcp' | 'model' | 'hook';

export interface Via {
  readonly door: Door;
  /** The MCP server, the upstream of the model, or the host of the hook. */
  readonly name?: string | undefined;
}

const doors: Readonly<Record<Door, WireDoor>> = {
  mcp: WireDoor.MCP,
  model: WireDoor.MODEL,
  hook: WireDoor.HOOK,
};

/** @internal */
export function wireViaOf({ door, name = '' }: Via): NonNullable<CheckActionRequest['via']> {
  return { door: doors[door], name };
}
