/** What an operation is about: a charge or another change of budgets, a key, or an operation of an agent. */
export type Input =
  | {
      readonly model: 'budget';
      readonly do: 'charge' | 'adjust';
      /** The tiers of the agent, and their caps. */
      readonly tiers: Readonly<Record<string, number>>;
      readonly cost: number;
      /** Whose action it is, to find out what became of it. */
      readonly op?: string;
    }
  | { readonly model: 'key'; readonly do: 'create' | 'use' | 'revoke'; readonly key: string }
  | { readonly model: 'op'; readonly do: 'move'; readonly op: string; readonly from: string; readonly to: string }
  | { readonly model: 'op'; readonly do: 'answer'; readonly op: string };

/** What the caller was told. */
export interface Output {
  readonly ok?: boolean;
  /** The tier whose cap refused a charge. */
  readonly refusedBy?: string;
  /** The states of an operation that the answer is true of. */
  readonly states?: readonly string[];
}

/** Called once with the answer, or with nothing if the call has had no effect. */
export type Return = (output: Output | undefined) => void;

/**
 * What callers asked and were told, and what the log says beside that, for a judge that shares no code with this one:
 * see linearizable/main.go.
 */
export class History {
  readonly #lines: string[] = [];
  readonly #open = new Map<number, { readonly process: string; readonly input: Input; readonly time: number }>();
  /** When charges came into the log that no caller was told about yet, and when revocations did. */
  readonly #charged = new Map<string, number[]>();
  readonly #revoked = new Map<string, number>();
  readonly #isKept: boolean;
  #time = 0;
  #last = 0;

  constructor(isKept: boolean) {
    this.#isKept = isKept;
  }

  /** Somebody asks. */
  invoke(process: string, input: Input): Return {
    if (!this.#isKept) return () => undefined;
    const id = ++this.#last;
    this.#open.set(id, { process, input, time: ++this.#time });
    return (output) => this.#return(id, output);
  }

  /** Something happens at this moment. */
  happened(input: Input): void {
    if (!this.#isKept) return;
    this.invoke('log', input)({ ok: true });
  }

  /** The log has this charge. */
  charged(op: string): void {
    this.#charged.set(op, [...(this.#charged.get(op) ?? []), ++this.#time]);
  }

  /** The log has this revocation. */
  revoked(key: string): void {
    this.#revoked.set(key, ++this.#time);
  }

  /** All lines. A call without an answer has had an effect if the log says so, and before the log said so. */
  finish(): readonly string[] {
    for (const [id, { input }] of this.#open) {
      const at = this.#inLogAt(input);
      this.#return(id, at === undefined ? undefined : { ok: true }, at);
    }
    return this.#lines;
  }

  #inLogAt(input: Input): number | undefined {
    if (input.model === 'budget') return this.#charged.get(input.op ?? '')?.[0];
    return input.model === 'key' && input.do === 'revoke' ? this.#revoked.get(input.key) : undefined;
  }

  #return(id: number, output: Output | undefined, at = ++this.#time): void {
    const call = this.#open.get(id);
    this.#open.delete(id);
    if (call === undefined || output === undefined || at < call.time) return;
    const { process, input, time } = call;
    const { model, ...rest } = input;
    if (input.model === 'budget' && output.ok === true && input.op !== undefined) {
      this.#charged.get(input.op)?.shift();
    }
    this.#lines.push(JSON.stringify({ type: 'invoke', id, process, time, model, input: rest }));
    this.#lines.push(JSON.stringify({ type: 'return', id, process, time: at, output }));
  }
}
