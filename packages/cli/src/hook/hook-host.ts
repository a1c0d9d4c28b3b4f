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
  /** Whether the host takes another input for the tool of this event. */
  canRewrite(event: Readonly<Record<string, unknown>>): boolean;
  /** Where the command is that a shell would get by the tool of this event. Undefined if the tool is no shell. */
  shellOf(event: Readonly<Record<string, unknown>>): ShellPlace | undefined;
  /** The host may go on, under its own rules. */
  allow(event: Readonly<Record<string, unknown>>, how: Permission): object;
  /** The host does not do it, and its model reads the reason. */
  deny(event: Readonly<Record<string, unknown>>, reason: string): object;
  /** How a hook changes what the model reads of a tool. Undefined if the host does not heed that. */
  readonly results: ResultControl | undefined;
}

/** Where the command of a shell is in an event. */
export type ShellPlace =
  /** In these members of the input, in place of which the host takes another one. */
  | { readonly kind: 'input'; readonly members: readonly string[] }
  /** In these members of the event. The host takes no other. */
  | { readonly kind: 'event'; readonly members: readonly string[] }
  /** A shell for which no command can be written. */
  | { readonly kind: 'unfit'; readonly reason: string };

export interface Permission {
  /** A person has said yes to exactly this. */
  readonly isApproved: boolean;
  /** The input to use in place of the given one. */
  readonly input?: Readonly<Record<string, unknown>> | undefined;
}

/** How a host lets a hook change what its model reads of a tool that was used. */
export interface ResultControl {
  /** The model reads this in place of what the tool brought back. Undefined if the host would not heed it. */
  replace(event: Readonly<Record<string, unknown>>, value: unknown): object | undefined;
  /** The model reads the reason in place of it. Unless that is certain, nothing more may go to the model. */
  withhold(event: Readonly<Record<string, unknown>>, reason: string): { answer: object; isCertain: boolean };
  /** Nothing more goes to the model. */
  stop(event: Readonly<Record<string, unknown>>, reason: string): object;
}

/** The time limit that `hook install` gives to a hook. Hosts take any, so it is what a person may need to decide. */
export const hookLimitSecs = 3600;

/** Exit code 2 blocks in every host, whatever event it was. The text on stderr is the reason. */
export function block(reason: string): HookReply {
  return { stdout: '', stderr: `${reason}\n`, code: 2 };
}
