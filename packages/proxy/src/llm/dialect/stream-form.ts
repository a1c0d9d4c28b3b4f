/** How a protocol streams an answer. */
export interface StreamForm {
  /** The answer that the data of these events are a stream of. Undefined if they are not understood as a whole one. */
  answerOf(events: readonly unknown[]): Readonly<Record<string, unknown>> | undefined;
  /** An answer as a stream of events, with nothing besides. */
  eventsOf(answer: Readonly<Record<string, unknown>>, wantsUsage: boolean): string;
}

/** An event with its name, as some protocols write it. */
export function namedEvent(data: Readonly<Record<string, unknown>> & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}
