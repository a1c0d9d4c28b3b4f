import type { CheckActionRequest } from '@reeve/contract';
import { doorNames } from '@reeve/contract';
import type { Door } from '@reeve/contract/names';

export type { Door } from '@reeve/contract/names';

export interface Via {
  readonly door: Door;
  /** The MCP server, the upstream of the model, or the host of the hook. */
  readonly name?: string | undefined;
}

/** @internal */
export function wireViaOf({ door, name = '' }: Via): NonNullable<CheckActionRequest['via']> {
  return { door: doorNames.wireOf[door], name };
}
