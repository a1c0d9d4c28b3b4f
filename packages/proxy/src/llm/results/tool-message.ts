import { foldedName } from '../../json/lookalike.ts';

/** A call of a tool, as a model has asked for it. */
export interface AskedTool {
  readonly name: string;
  /** Any JSON value. A text that is no JSON stays a text. */
  readonly args: unknown;
}

/** What a tool brought back, inside of a request to a model. */
export interface ToolMessage {
  /** The call that it answers. Undefined if the request does not show it. */
  readonly call: AskedTool | undefined;
  /** The id by which it names the call, if it does. */
  readonly callId: string | undefined;
  readonly content: unknown;
  readonly isError: boolean;
  /** Where the content stands in the body, by names of members and indices. */
  readonly path: readonly (string | number)[];
  /** A content that says why there is none. */
  denied(reason: string): unknown;
}

export type Members = Readonly<Record<string, unknown>>;

export function membersIn(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

export function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

/** The arguments of a call, which models write as a text of JSON. */
export function argsOf(written: unknown): unknown {
  if (typeof written !== 'string') return written ?? {};
  try {
    return written === '' ? {} : (JSON.parse(written) as unknown);
  } catch {
    return written;
  }
}

/** A value of a role or a type, as a reader sees it that makes no difference between `tool` and `Tool`. */
export function kindIn(value: unknown): string {
  return foldedName(textIn(value));
}

/** The members that hold something to read, but for those that are no result. */
export function resultsIn(item: Members, others: ReadonlySet<string>): readonly string[] {
  return Object.keys(item).filter((name) => !others.has(name) && isReadable(item[name]));
}

function isReadable(value: unknown): boolean {
  return typeof value === 'string' || (typeof value === 'object' && value !== null);
}
