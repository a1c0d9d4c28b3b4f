import type { Mutant } from './mutant.ts';
import { core } from './mutant.ts';

const sql = 'packages/gateway/src/adapters/sql';

/** What is on the way to others, in the store, restored from it and forgotten. */
export const keepingMutants: readonly Mutant[] = [
  {
    name: 'commit text: reservations are lost on the way',
    file: `${core}/replication/encoding/ops-schema.ts`,
    text: 'reservedMicros: noNumber,',
    replacement: 'reservedMicros: { ...noNumber, write: () => 0 },',
  },
  {
    name: 'commit text: runs are lost on the way',
    file: `${core}/replication/encoding/ops-schema.ts`,
    text: 'runId: noText,',
    replacement: "runId: { ...noText, write: () => '' },",
  },
  {
    name: 'commit text: first checks are lost on the way',
    file: `${core}/replication/encoding/ops-schema.ts`,
    text: '    checked: optional(set),\n',
    replacement: '',
  },
  {
    name: 'runs: a save holds what is not durable',
    file: `${core}/runs/run-counts.ts`,
    text: '  for (const change of run.unsettled) subtract(counts, change);',
    replacement: '  subtract satisfies unknown;',
  },
  {
    name: "runs: a check that is taken back takes the time of another gateway's check along",
    file: `${core}/runs/run-counts.ts`,
    text: '  setTimes(run, before);',
    replacement: '  Object.assign(run, before);',
  },
  {
    name: 'labels: what was cleared is back after a start',
    file: `${core}/runs/runs-rows.ts`,
    text: 'return names.map((name) => remove(labelsTable, { place: keyOfPlace(place), owner: of, name }));',
    replacement:
      'return names.slice(1).map((name) => remove(labelsTable, { place: keyOfPlace(place), owner: of, name }));',
  },
  {
    name: 'runs: a start counts again what rows have',
    file: `${core}/runs/run-registry.ts`,
    text: 'if ((this.#find(fact.op)?.asOf ?? 0) < seq) this.count(fact, restoring);',
    replacement: 'if (seq > 0) this.count(fact, restoring);',
  },
  {
    name: 'restore: rows of operations are not read',
    file: `${core}/ops/restore-ops.ts`,
    text: `for (const row of inOrderOf(all, 'registeredAt')) this.#row(row);`,
    replacement: 'this.#row satisfies unknown;',
  },
  {
    name: 'restore: facts after the mark are not applied again',
    file: `${core}/recover.ts`,
    text: 'if (how.seq > mark) redoFact(gov, fact, part, how);',
    replacement: 'if (how.seq > mark + 20) redoFact(gov, fact, part, how);',
  },
  {
    name: 'restore: facts are forgotten before the mark',
    file: `${core}/recover.ts`,
    text: 'return Math.min(...Object.values(needed));',
    replacement: 'return Math.max(...Object.values(needed));',
  },
  {
    name: 'marks: the log of operations is cut off where rows are missing',
    file: `${core}/ops/checkpoint.ts`,
    text: 'marks.findLast((mark) => mark.elapsed <= now - this.#windowMs)',
    replacement: 'marks.at(-1)',
  },
  {
    name: 'marks: the mark of balances speaks for rows that were written before',
    file: `${core}/budget/balance-keeper.ts`,
    text: 'asOf: asOf === null ? null : { seq: asOf,',
    replacement: 'asOf: asOf === null ? null : { seq,',
  },
  {
    name: 'marks: balances of two gateways are saved under one mark',
    file: `${core}/budget/budget-facts.ts`,
    text: "claims: () => ['save of balances'],",
    replacement: '',
  },
  {
    name: 'sweep: an operation is forgotten before its end is durable',
    file: `${core}/ops/ended-ops.ts`,
    text: 'if (isLeft && (movedAt > time || !op.hasEnded)) return;',
    replacement: 'if (isLeft && movedAt > time) return;',
  },
  {
    name: 'sweep: rows of forgotten operations stay',
    file: `${core}/ops/checkpoint.ts`,
    text: 'removed.filter(({ savedSeq }) => savedSeq > 0)',
    replacement: 'removed.filter(({ savedSeq }) => savedSeq < 0)',
  },
  {
    name: 'leaving: a row that another gateway is writing stays when its agent leaves',
    file: `${core}/control/agent-facts.ts`,
    text: 'claims: ({ id }) => [rowsName(id)],',
    replacement: 'claims: ({ id }) => (rowsName(id) === "" ? [""] : []),',
  },
  {
    name: 'leaving: a row whose removal is taken back stays when its agent leaves',
    file: `${core}/ops/ops-facts.ts`,
    text: 'if (op === undefined) return isHere ?',
    replacement: 'if (op === undefined) return isHere && agent !== undefined ?',
  },
  {
    name: 'leaving: a row that another gateway is writing stays when a delegation is forgotten',
    file: `${core}/control/forget-delegations.ts`,
    text: 'removeRowsOf(gov, agent);',
    replacement: 'removeRowsOf satisfies unknown;',
  },
  {
    name: 'leaving: a start from entries leaves the rows of operations whose agent has left',
    file: `${core}/ops/ops-of-entries.ts`,
    text: 'if (op.seq < seq && !isOver(op.state)) dropOp(this.#state, op);',
    replacement: 'if (op.seq < seq) dropOp(this.#state, Object.assign(op, { savedSeq: 0 }));',
  },
  {
    name: 'marks: a row of another gateway counts for what happens here',
    file: `${core}/ops/registry.ts`,
    text: 'const wasUnsaved = isWhole && this.#unsaved.delete(op);',
    replacement: 'const wasUnsaved = this.#unsaved.delete(op);',
  },
  {
    name: 'marks: the mark passes rows that are still to be removed',
    file: `${core}/ops/checkpoint.ts`,
    text: 'if (ops.hasRowsToRemove) return;',
    replacement: '',
  },
  {
    name: 'sweep: an operation whose end was taken back is forgotten',
    file: `${core}/ops/ended-ops.ts`,
    text: `const isLeft = isOver(op.state) && op.movedAt === movedAt && this.#holds(op);
      if (isLeft && (movedAt > time || !op.hasEnded)) return;`,
    replacement: `const isLeft = this.#holds(op);
      if (isLeft && (movedAt > time || (isOver(op.state) && !op.hasEnded))) return;`,
  },
  {
    name: 'sweep: a forgotten operation gets a row when its change is taken back',
    file: `${core}/ops/registry.ts`,
    text: 'if (this.holds(op)) yield [op, since];',
    replacement: 'if (since >= 0) yield [op, since];',
  },
  {
    name: 'releases: a gateway that is behind saves operations',
    file: `${core}/ops/checkpoint.ts`,
    text: 'if (this.#gov.directory.outOfService.isBehind) return false;',
    replacement: '',
  },
  {
    name: 'sweep: a row is removed although another operation has its id',
    file: `${core}/ops/forgotten-rows.ts`,
    text: 'else if (op === undefined) yield row;',
    replacement: "else if (op?.opId !== '') yield row;",
  },
  {
    name: 'disk: a commit that did not fit is not rolled back',
    file: `${sql}/sqlite-store.ts`,
    text: "if (this.#db.isTransaction) this.#db.exec('ROLLBACK');",
    replacement: '',
  },
  {
    name: 'disk: entries and rows of a commit are written one after the other',
    file: `${sql}/sqlite-store.ts`,
    text: 'for (const change of batch.changes) for',
    replacement:
      "this.#prepare('COMMIT').run(); this.#prepare('BEGIN IMMEDIATE').run(); for (const change of batch.changes) for",
  },
  {
    name: 'disk: rows are not removed',
    file: `${sql}/sqlite-store.ts`,
    text: `      case 'remove':
        table.remove(write.key);`,
    replacement: `      case 'remove':`,
  },
];
