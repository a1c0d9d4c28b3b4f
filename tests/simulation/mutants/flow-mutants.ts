import type { Mutant } from './mutant.ts';
import { core } from './mutant.ts';

/** What becomes of results, labels and rewritten arguments. */
export const flowMutants: readonly Mutant[] = [
  {
    name: 'results: one that nobody has judged owes nothing at the end',
    file: `${core}/ops/complete-op.ts`,
    text: 'const unjudged = isUnjudged(op, completion) ? resultDuty?.unjudged : undefined;',
    replacement: 'const unjudged = isUnjudged(op, completion) && op.seq < 0 ? resultDuty?.unjudged : undefined;',
  },
  {
    name: 'results: that one was judged is not restored',
    file: `${core}/ops/judged-facts.ts`,
    text: 'if (!isInRow(state, fact.id, fact.opId, how)) applyJudged(state, fact);',
    replacement: 'void isInRow(state, fact.id, fact.opId, how);',
  },
  {
    name: 'results: the log is read before it has the call',
    file: `${core}/decision/check-result.ts`,
    text: 'await gov.journal.durable(() => runningOp(gov, request));',
    replacement: 'runningOp(gov, request);',
  },
  {
    name: 'results: labels that come while one is judged aside do not count',
    file: `${core}/decision/check-result.ts`,
    text: 'labels === undefined || isStill(gov, op, labels) ?',
    replacement: 'labels === undefined || isStill !== undefined ?',
  },
  {
    name: 'results: entries do not say what an operation owes',
    file: `${core}/ops/ops-of-entries.ts`,
    text: 'resultDuty: dutyIn(payload),',
    replacement: 'resultDuty: payload.run_id === undefined ? null : dutyIn(payload),',
  },
  {
    name: 'labels: what gives one does not alter what others have read',
    file: `${core}/runs/runs-facts.ts`,
    text: `    touch: touchOfBearer,
    alters: (bearer) => [labelsName(bearer), labelledName(bearer)],`,
    replacement: `    touch: touchesNobody,
    alters: (bearer) => [labelledName(bearer)],`,
  },
  {
    name: 'labels: those that come while people are asked do not count',
    file: `${core}/approvals/give-verdict.ts`,
    text: 'const refusal = refuseByLabels(gov, approval, op);',
    replacement: 'const refusal = op.seq < 0 ? refuseByLabels(gov, approval, op) : undefined;',
  },
  {
    name: 'labels: those of one moment are in any order',
    file: `${core}/runs/label-registry.ts`,
    text: 'a.since - b.since || (a.name < b.name ? -1 : 1)',
    replacement: 'a.since - b.since',
  },
  {
    name: 'rewriting: what was changed is not kept',
    file: `${core}/decision/kept-rewrite.ts`,
    text: 'return { digest, changes: text };',
    replacement: 'return { digest, changes: null };',
  },
  {
    name: 'rewriting: a replay goes on with the arguments as they were sent',
    file: `${core}/decision/kept-rewrite.ts`,
    text: "if (rewrite === null || answer.decision === 'deny') return answer;",
    replacement: "if (rewrite !== undefined || answer.decision === 'deny') return answer;",
  },
  {
    name: 'rewriting: what was changed is not restored beside entries',
    file: `${core}/ops/redo-untold.ts`,
    text: 'if (!isInRow(state, id, opId, how)) state.ops.change(op, { rewrite });',
    replacement: 'void isInRow(state, id, opId, how);',
  },
  {
    name: 'order: a refusal stands although what it rests on is taken back',
    file: `${core}/journal/turns.ts`,
    text: 'if (this.takenBack === takenBack) return outcome();',
    replacement: 'if (this.takenBack >= takenBack) return outcome();',
    also: [
      {
        file: `${core}/journal/turns.ts`,
        text: 'if (this.followed === followed && this.takenBack === takenBack) throw error;',
        replacement: 'if (this.followed >= followed) throw error;',
      },
    ],
  },
  {
    name: 'labels: a run is forgotten beside what others do with its labels',
    file: `${core}/runs/runs-facts.ts`,
    text: "claims: ({ runs }) => runs.map((place) => labelsName({ of: 'run', place })),",
    replacement: 'claims: () => [],',
  },
];
