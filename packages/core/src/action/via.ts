import type { Entrance } from '../kernel/index.ts';
import { checkLength, entrances, longest } from '../kernel/index.ts';

/** Who asks for an agent that does not ask by itself: a proxy for MCP, one for model calls, or a hook. */
export type Door = Exclude<Entrance, 'sdk'>;

export const doors: readonly Door[] = entrances.filter((entrance) => entrance !== 'sdk');

/** The door that an action came through, as the agent says. Nothing proves it. */
export interface Via {
  readonly door: Door;
  /** The MCP server, the upstream of the model, or the host of the hook. */
  readonly name: string;
}

/** An agent that asks by itself uses the SDK, or speaks as the SDK does. */
export function entranceOf(via: Via | null): Entrance {
  return via === null ? 'sdk' : via.door;
}

export function checkVia({ name }: Via): void {
  checkLength('via.name', name, longest.name);
}
