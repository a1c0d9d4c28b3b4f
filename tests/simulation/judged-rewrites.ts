import type { Answer } from '@reeve/core';
import { Broken } from './broken.ts';
import { rewriting } from './flow-rules.ts';
import type { JudgedEntry } from './judged-entry.ts';
import { opName } from './judged-entry.ts';
import type { JudgedLabels } from './judged-labels.ts';
import { sha256 } from './random.ts';

/** What an operation asks for, by its number. */
export function argsOf(opId: string): { readonly n: number } {
  return { n: Number(opId.slice(1, -2)) };
}

/** The arguments that operations run with. Whoever asks again gets those of the first answer, or none. */
export class JudgedRewrites {
  readonly #labels: JudgedLabels;
  /** The digests of rewritten arguments, the newest last. */
  readonly #ofOp = new Map<string, readonly string[]>();

  constructor(labels: JudgedLabels) {
    this.#labels = labels;
  }

  /** A first check that was allowed or waits. Rules write the labels of the run into the arguments of some tools. */
  decide({ seq, agent, opId, payload }: JudgedEntry): void {
    const op = opName(agent, opId ?? '');
    const { tool = '', seen = [] } = this.#labels.find(op) ?? {};
    const member = rewriting.get(tool);
    const args = member === undefined ? undefined : { ...argsOf(opId ?? ''), [member]: seen.join() };
    const due = args === undefined ? undefined : sha256(JSON.stringify(args));
    const { rewritten_args_sha256: is } = payload;
    if (is !== due) throw new Broken(`entry ${seq}: ${op} is rewritten to ${is}, and should be to ${due}`);
    if (is !== undefined) this.#ofOp.set(op, [...(this.#ofOp.get(op) ?? []), is]);
  }

  /** A check of a known operation. Only what no fact may keep is unknown anywhere. */
  replay({ seq, agent, opId, decision, payload, reason }: JudgedEntry): void {
    const op = opName(agent, opId ?? '');
    const member = rewriting.get(this.#labels.find(op)?.tool ?? '');
    const { rewritten_args_sha256: is } = payload;
    if (decision === 'deny') {
      if (!reason.includes('are not known here') || member === 'password') return;
      throw new Broken(`entry ${seq}: the arguments of ${op} are not known, and are no secret`);
    }
    const first = member === undefined ? undefined : this.#ofOp.get(op)?.at(-1);
    if (is !== first) throw new Broken(`entry ${seq}: ${op} is replayed with ${is}; it was answered with ${first}`);
  }

  /** Who may go on, or waits, is told the arguments that the log has. */
  requireTold(op: string, { argsJson }: Answer): void {
    const known = this.#ofOp.get(op) ?? [];
    if (argsJson === undefined ? known.length === 0 : known.includes(sha256(argsJson))) return;
    throw new Broken(`${op} was told to go on with ${argsJson}, and the log does not have that`);
  }
}
