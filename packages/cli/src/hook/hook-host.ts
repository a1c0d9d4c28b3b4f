import type { HookHostName } from '@reeve/contract/names';
import type { HookEvent } from './hook-event.ts';
import type { Machine } from './own-places.ts';

/** What a hook says to its host. */
export interface HookReply {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

/** A coding agent that runs hooks: its events, and its form of answers. */
export interface HookHost {
  readonly name: HookHostName;
  /** Reads an event. Throws `MalformedEvent`. */
  read(event: Readonly<Record<string, unknown>>, machine: Machine): HookEvent;
  /** The host may go on, under its own rules. `approved`: a person has said yes to exactly this. */
  allow(event: Readonly<Record<string, unknown>>, approved: boolean): object;
  /** The host does not do it, and its model reads the reason. */
  deny(event: Readonly<Record<string, unknown>>, reason: string): object;
}

/** The time limit that `hook install` gives to a hook. Hosts take any, so it is what a person may need to decide. */
export const hookLimitSecs = 3600;

/** Exit code 2 blocks in every host, whatever event it was. The text on stderr is the reason. */
export function block(reason: string): HookReply {
  return { stdout: '', stderr: `${reason}\n`, code: 2 };
}
