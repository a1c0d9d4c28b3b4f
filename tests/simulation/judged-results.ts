import type { checkResult, Governance } from '@reeve/core';
import { Broken } from './broken.ts';
import type { ResultRule } from './flow-rules.ts';
import { resultRules, results } from './flow-rules.ts';
import type { GivenLabel, JudgedEntry } from './judged-entry.ts';
import { agentName, opName } from './judged-entry.ts';
import type { JudgedLabels, Labelled } from './judged-labels.ts';
import { nameOf, requireGiven } from './judged-labels.ts';
import { sha256 } from './random.ts';

type ResultAnswer = Awaited<ReturnType<typeof checkResult>>;
type Outcome = 'ResultAllowed' | 'ResultMasked' | 'ResultDenied';

/** What becomes of a result. */
interface Verdict {
  readonly outcome: Outcome;
  /** What is passed on. Undefined: nothing. */
  readonly text: string | undefined;
  readonly labels: readonly GivenLabel[];
}

const notJudged = 'the result could not be judged: ';

/** What the log says of the results of operations. What is judged once stays so, and what is not judged counts in full. */
export class JudgedResults {
  readonly #labels: JudgedLabels;
  /** Operations that run, and of whose results somebody has asked. */
  readonly #judged = new Set<string>();
  /** All that the log has told of the results of an operation. */
  readonly #told = new Map<string, Set<string>>();

  constructor(labels: JudgedLabels) {
    this.#labels = labels;
  }

  /** An operation is decided. Nobody has asked about its result yet. */
  decide(op: string): void {
    this.#judged.delete(op);
  }

  /** Somebody has asked about a result. `isRunning`: the operation runs at this place of the log. */
  judge(entry: JudgedEntry, isRunning: boolean): void {
    const { seq, eventType, agent, opId, payload, reason } = entry;
    const op = opName(agent, opId ?? '');
    const known = this.#labels.find(op);
    const text = textOfSize(payload.size);
    if (known === undefined || !isRunning) throw new Broken(`entry ${seq}: a result of ${op}, which does not run`);
    const isLost = reason.startsWith(notJudged) && text.includes('dear');
    const verdict = isLost ? denied : verdictOn(known, text, this.#labels.borneIn(known));
    const is = textOf(eventType, payload.digest, (payload.labels ?? []).map(nameOf));
    const due = textOf(verdict.outcome, digestOf(verdict), namesOf(verdict));
    if (is !== due) throw new Broken(`entry ${seq}: the result ${text} of ${op} is ${is}, and should be ${due}`);
    this.#labels.give(known, verdict.labels);
    this.#judged.add(op);
    this.#told.set(op, (this.#told.get(op) ?? new Set()).add(`${text} ${is}`));
  }

  /** An operation is completed. If somebody was to ask about its result, and nobody has, all labels count that it may have. */
  complete(entry: JudgedEntry): void {
    const { seq, agent, opId, payload } = entry;
    const op = opName(agent, opId ?? '');
    const known = this.#labels.find(op);
    const { outcome = null } = payload;
    const isOwed = known !== undefined && rulesFor(known).length > 0 && !this.#judged.has(op);
    const isUnjudged = isOwed && (outcome === null || outcome === 'succeeded');
    if ((payload.result_not_judged === true) !== isUnjudged) {
      throw new Broken(`entry ${seq}: ${op} is completed as ${isUnjudged ? 'judged' : 'not judged'}, and it is not so`);
    }
    requireGiven(entry, isUnjudged ? this.#labels.give(known, labelsOf(rulesFor(known))) : []);
  }

  /** What somebody is told of a result is what the log says. */
  requireTold(op: string, text: string, { decision, result, labels }: ResultAnswer): void {
    const passedOn = result === undefined ? text : Buffer.from(result).toString();
    const allowed = result === undefined ? 'ResultAllowed' : 'ResultMasked';
    const answer =
      decision === 'deny' ? textOf('ResultDenied', undefined, labels) : textOf(allowed, sha256(passedOn), labels);
    if (this.#told.get(op)?.has(`${text} ${answer}`) === true) return;
    throw new Broken(`of the result ${text}, ${op} was told ${answer}, and the log does not have it`);
  }

  /** Whether somebody is to ask about what an operation brings back. */
  isOwed(op: string): boolean {
    const known = this.#labels.find(op);
    return known !== undefined && rulesFor(known).length > 0;
  }

  /** A gateway knows whose results are to be judged, and whose were. */
  requireKnown({ directory, ops }: Pick<Governance, 'directory' | 'ops'>, gateway: string): void {
    for (const agent of directory.all()) {
      for (const { opId, state, digest, resultDuty } of ops.of(agent)) {
        if (state === 'completing' || state === 'terminated' || digest === '') continue;
        const op = opName(agentName(agent.record.id), opId);
        const due = this.isOwed(op) ? (this.#judged.has(op) ? 'judged' : 'owed') : 'not owed';
        const is = resultDuty === null ? 'not owed' : resultDuty.judged ? 'judged' : 'owed';
        if (is !== due) throw new Broken(`${gateway} takes the result of ${op} for ${is}; by the log it is ${due}`);
      }
    }
  }
}

const denied: Verdict = { outcome: 'ResultDenied', text: undefined, labels: [] };

function verdictOn(known: Labelled, text: string, borne: readonly string[]): Verdict {
  const matching = rulesFor(known).filter(({ says = '', borne: label, seen }) => {
    const isBorne = label === undefined || borne.includes(label);
    return text.includes(says) && isBorne && (seen === undefined || known.seen.includes(seen));
  });
  if (matching.some(({ effect }) => effect === 'deny')) return denied;
  const isMasked = matching.some(({ effect }) => effect === 'mask');
  const passedOn = isMasked ? text.replaceAll(/\w+@[\w.]+/g, '[masked]') : text;
  const outcome = passedOn === text ? 'ResultAllowed' : 'ResultMasked';
  return { outcome, text: passedOn, labels: labelsOf(matching) };
}

function rulesFor({ tool }: Labelled): readonly ResultRule[] {
  return resultRules.filter((rule) => rule.tool === tool);
}

function labelsOf(rules: readonly ResultRule[]): readonly GivenLabel[] {
  return rules.flatMap(({ name, gives }) =>
    gives === undefined ? [] : [{ name: gives.label, of: gives.of, policy_rule: name }],
  );
}

function namesOf({ labels }: Verdict): readonly string[] {
  return labels.map(({ name }) => name);
}

function digestOf({ text }: Verdict): string | undefined {
  return text === undefined ? undefined : sha256(text);
}

function textOf(outcome: string, digest: string | undefined, labels: readonly string[]): string {
  return `${outcome} ${digest?.slice(0, 12) ?? 'nothing'} [${labels.join()}]`;
}

function textOfSize(size: number | undefined): string {
  const [text, ...others] = results.filter((each) => Buffer.byteLength(each) === size);
  if (text === undefined || others.length > 0) throw new Broken(`nobody brought back a result of ${size} bytes alone`);
  return text;
}
