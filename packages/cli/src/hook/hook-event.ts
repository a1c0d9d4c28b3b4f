import type { FileOperation, NetworkCall, Outcome, ProcessExec, ToolCall } from '@reeve/sdk';

/** What hooks ask about. */
export type HookAction = FileOperation | NetworkCall | ProcessExec | ToolCall;

/** One thing that a tool would do, and a remark for the people who look at it. */
export interface PlannedAction {
  readonly action: HookAction;
  readonly note?: string | undefined;
  /** Found on this machine, not in the event: it may be another one after the tool was used. */
  readonly isReal?: boolean;
  /** A folder is used with all that is in it. */
  readonly isDeep?: boolean;
  /** The path is a pattern, as a shell reads it. */
  readonly isPattern?: boolean;
  /** The whole text that it is a part of. An equal tool use has the same one. */
  readonly source?: string | undefined;
}

/** A tool is about to be used. */
export interface BeforeTool {
  readonly kind: 'before';
  readonly session: string;
  /** The agent inside of the session, empty for its main one. */
  readonly agent: string;
  /** Undefined if the host gives no ids. */
  readonly toolUse: string | undefined;
  /** A more precise event of a tool use that another event has announced already. */
  readonly isRepeated: boolean;
  readonly actions: readonly PlannedAction[];
  /** Why the host's model reads what the tool brings back, whatever a hook says of it. Undefined if a hook can replace it. */
  readonly unreplaceable: string | undefined;
}

/** What a tool brought back, as a model would read it. */
export interface ToolResult {
  readonly value: unknown;
  /** Whether the tool has failed, and this is its error. */
  readonly isError: boolean;
}

/** A tool has been used. */
export interface AfterTool {
  readonly kind: 'after';
  readonly session: string;
  readonly toolUse: string | undefined;
  readonly actions: readonly PlannedAction[];
  readonly outcome: Outcome;
  /** Undefined if the event does not say, or if there is none. */
  readonly result: ToolResult | undefined;
}

export type HookEvent =
  | BeforeTool
  | AfterTool
  /** More is about to go to the model: what tools brought back, or what a person says. */
  | { readonly kind: 'onward'; readonly session: string }
  /** The agent stopped working for now. What it began is over. */
  | { readonly kind: 'turn_over'; readonly session: string; readonly agent: string }
  | { readonly kind: 'session_over'; readonly session: string }
  /** Nothing to ask or to report. */
  | { readonly kind: 'other' };

/** What came on standard input is no event of this host. */
export class MalformedEvent extends Error {}

/** What a tool did that has been used already. Nothing depends on it but the report, which the end of the session makes up for. */
export function ifUnderstood(actions: () => readonly PlannedAction[]): readonly PlannedAction[] {
  try {
    return actions();
  } catch (error) {
    if (!(error instanceof MalformedEvent)) throw error;
    return [];
  }
}
