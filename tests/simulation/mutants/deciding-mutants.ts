import type { Mutant } from './mutant.ts';
import { core } from './mutant.ts';

/** What gateways decide, in which order, and what they tell each other. */
export const decidingMutants: readonly Mutant[] = [
  {
    name: 'lifecycle: what is over ends again',
    file: `${core}/ops/lifecycle.ts`,
    text: 'completing: {},',
    replacement: "completing: { terminate: 'terminated' },",
  },
  {
    name: 'chain: entries of a commit do not link to each other',
    file: `${core}/audit/chain.ts`,
    text: '"prev_hash":"${head.hash}"',
    replacement: '"prev_hash":"${draft.opId}"',
  },
  {
    name: 'caps: the charge itself does not count',
    file: `${core}/budget/cap-rule.ts`,
    text: 'if (plus(totalMicros, cost) > limitMicros)',
    replacement: 'if (totalMicros > limitMicros)',
  },
  {
    name: 'caps: what other gateways charged meanwhile does not count',
    file: `${core}/budget/ledger.ts`,
    text: 'plus(total, this.#releasedOf(of)) <= limit',
    replacement: 'plus(total, this.#releasedOf(of)) <= limit + Number.MAX_VALUE',
  },
  {
    name: 'caps: a release counts before it is durable',
    file: `${core}/budget/ledger.ts`,
    text: 'plus(total, this.#releasedOf(of)) <= limit',
    replacement: 'total <= limit',
  },
  {
    name: 'caps: a refusal stands although a commit before it has released',
    file: `${core}/budget/watched-ledger.ts`,
    text: 'if (exceeded !== undefined || !ledger.wouldSurelyFit(tiers, cost)) rest(ledger.capped(tiers));',
    replacement: 'if (exceeded !== undefined || !ledger.wouldSurelyFit(tiers, cost)) return exceeded;',
  },
  {
    name: 'runs: a decision stands although another gateway has counted a check first',
    file: `${core}/runs/watched-runs.ts`,
    text: '      rest(runName(op));',
    replacement: '      void runName;',
  },
  {
    name: 'runs: one is forgotten although another gateway was first with a check in it',
    file: `${core}/runs/watched-runs.ts`,
    text: '(run) => run && rest(run.name)',
    replacement: '(run) => run',
  },
  {
    name: 'runs: what other gateways check is not counted',
    file: `${core}/ops/ops-facts.ts`,
    text: 'const undoRun = state.runs.count(fact, how);',
    replacement: 'const undoRun = how.isHere ? state.runs.count(fact, how) : nothingToApply();',
  },
  {
    name: 'reservations: the end of an operation releases nothing',
    file: `${core}/ops/ops-facts.ts`,
    text: 'if (reserved !== 0) undos.push(ledger.balances.reserve(tiers, reserved));',
    replacement: 'if (reserved > 0) undos.push(ledger.balances.reserve(tiers, reserved));',
  },
  {
    name: 'reservations: a release after silence is not followed',
    file: `${core}/ops/ops-facts.ts`,
    text: 'ledger.balances.reserve(tiers, -reservedMicros)];',
    replacement: 'how.isHere ? ledger.balances.reserve(tiers, -reservedMicros) : nothingToApply()];',
  },
  {
    name: 'reservations: a release after silence is not restored from the log',
    file: `${core}/ops/ops-facts.ts`,
    text: 'isInRow(state, fact.agent, opId, how)) return;',
    replacement: "isInRow(state, fact.agent, opId, how) || opId !== '') return;",
  },
  {
    name: 'notices: two gateways tell of the same share',
    file: `${core}/budget/watched-ledger.ts`,
    text: 'if (approached.length > 0) rest(ledger.capped(tiers));',
    replacement: 'if (approached.length > 0) return approached;',
  },
  {
    name: 'notices: nobody is told of a share that two gateways reach together',
    file: `${core}/budget/watched-ledger.ts`,
    text: 'journal.onlyWhile(() => ledger.hasToldShares(tiers));',
    replacement: 'journal.onlyWhile(() => true);',
  },
  {
    name: 'undo: a commit that fails is not taken back',
    file: `${core}/journal/tick.ts`,
    text: 'for (const { undos } of parts.toReversed()) for (const undo of undos.reverse()) undo();',
    replacement: 'if (parts.length < 0) throw new Error();',
  },
  {
    name: 'undo: what is taken back is taken back in the order it was done',
    file: `${core}/journal/overtaken.ts`,
    text: 'for (const part of gone.toReversed()) for (const undo of part.undos.reverse()) undo();',
    replacement: 'for (const part of gone) for (const undo of part.undos) undo();',
  },
  {
    name: 'undo: a charge is not taken back',
    file: `${core}/ops/ops-facts.ts`,
    text: 'if (reserved !== 0) undos.push(ledger.balances.reserve(tiers, reserved));',
    replacement: 'if (reserved !== 0) ledger.balances.reserve(tiers, reserved);',
  },
  {
    name: 'order: turns stand although a commit before them changed what they rest on',
    file: `${core}/journal/overtaken.ts`,
    text: 'again.push(...takeBack(work, ({ rests }) => rests.restsOn((changes ??= changesOf(work, commit)))));',
    replacement: '',
  },
  {
    name: 'order: what a turn has read does not count, only what it changes',
    file: `${core}/journal/turns.ts`,
    text: 'if (!this.#isApplying) this.#part?.trace?.rests.add(what);',
    replacement: '',
  },
  {
    name: 'order: what has a name may change unnoticed',
    file: `${core}/journal/footprint.ts`,
    text: 'this.addNames(altersOf(fact, isNext));',
    replacement: '',
  },
  {
    name: 'order: conditions are not asked again',
    file: `${core}/journal/overtaken.ts`,
    text: 'knowing === followed || conditions.every((condition) => condition(changes.names));',
    replacement: 'knowing === followed || conditions.length >= 0;',
  },
  {
    name: 'order: what rests on a turn that is done again stays',
    file: `${core}/journal/overtaken.ts`,
    text: 'if (!fits(part.trace, part) && !part.trace.rests.restsOn(changed)) continue;',
    replacement: 'if (!fits(part.trace, part)) continue;',
  },
  {
    name: 'order: a gateway seals onto the head that it knew before',
    file: `${core}/journal/journal.ts`,
    text: 'this.#head = commit.head;',
    replacement: '',
  },
  {
    name: 'order: a replay stands although its decision is taken back',
    file: `${core}/journal/turns.ts`,
    text: 'if (!this.#isApplying) this.#part?.trace?.rests.add(what);',
    replacement:
      "if (!this.#isApplying && typeof what === 'object' && 'name' in what) this.#part?.trace?.rests.add(what);",
  },
  {
    name: 'freshness: nobody catches up with the log before a caller is served',
    file: `${core}/journal/journal.ts`,
    text: 'if (this.#sharing === undefined) return true;',
    replacement: 'if (this.#sharing !== undefined) return true;',
  },
  {
    name: 'keys: a revoked key is in force',
    file: `${core}/access/key-ring.ts`,
    text: 'if (key === undefined || key.revokedAt !== null || !this.isWhole(id)) return false;',
    replacement: 'if (key === undefined || !this.isWhole(id)) return false;',
  },
  {
    name: 'keys: those of other gateways are not followed',
    file: `${core}/access/access-facts.ts`,
    text: 'apply: ({ keys, ended }, { key }, { onDurable }) => {',
    replacement: 'apply: ({ keys, ended }, { key }, { isHere, onDurable }) => { if (!isHere) return () => undefined;',
  },
  {
    name: 'keys: a turn that is done again does not ask whether its caller still may',
    file: `${core}/journal/turns.ts`,
    text: `      by.require();
      this.onlyWhile(() => holds(by));`,
    replacement: '',
  },
  {
    name: 'tokens: a replaced token is served',
    file: `${core}/tenancy/agent.ts`,
    text: 'if (tokenHash !== null && equalInConstantTime(hash, tokenHash)) return',
    replacement: 'if (tokenHash !== null) return',
  },
  {
    name: 'tokens: a turn stands although another gateway has replaced its token',
    file: `${core}/control/agent-facts.ts`,
    text: 'return { org: agentOfChange(change).orgId };',
    replacement: "return change.kind === 'agent_saved' ? undefined : { org: agentOfChange(change).orgId };",
  },
  {
    name: 'suspensions: a suspended agent is served',
    file: `${core}/tenancy/identify.ts`,
    text: 'if (claimed.record.suspension !== null) return',
    replacement: 'if (claimed.record.suspension !== null && claimed.blocked) return',
  },
  {
    name: 'suspensions: a suspended scope is served',
    file: `${core}/decision/refuse-by-control.ts`,
    text: 'if (hold !== undefined) return',
    replacement: "if (hold !== undefined && op.opId === '') return",
  },
  {
    name: 'suspensions: those of other gateways are not followed',
    file: `${core}/tenancy/tenancy-facts.ts`,
    text: 'apply: ({ directory }, { suspension }) => directory.suspensions.put(suspension),',
    replacement:
      'apply: ({ directory }, { suspension }, { isHere }) => isHere ? directory.suspensions.put(suspension) : () => undefined,',
  },
  {
    name: 'runs: a held run is served',
    file: `${core}/decision/refuse-by-control.ts`,
    text: 'if (control === undefined) continue;',
    replacement: "if (control === undefined || runId !== '') continue;",
  },
  {
    name: 'runs: held runs are forgotten at a start',
    file: `${core}/control/control-facts.ts`,
    text: "for (const control of snapshot.runControls) yield { kind: 'run_control_saved', control };",
    replacement: '',
  },
  {
    name: 'controls: sequence numbers begin anew at a start',
    file: `${core}/control/control-facts.ts`,
    text: "for (const sequence of snapshot.controlSequences) yield { kind: 'control_sequence_saved', sequence };",
    replacement: '',
  },
  {
    name: 'approvals: an approval stays open although its operation has ended',
    file: `${core}/approvals/settle-approval.ts`,
    text: 'cancelApproval(gov, approval, { actor, reason });',
    replacement: '',
  },
  {
    name: 'approvals: the outcome is told at one gateway alone, and not after a start',
    file: `${core}/approvals/approvals-facts.ts`,
    text: 'return undoAll(undo, withdraw, tell(gov, approval, how));',
    replacement: 'return undoAll(undo, withdraw, how.isHere ? tell(gov, approval, how) : () => undefined);',
  },
  {
    name: 'policies: those of other gateways are not followed',
    file: `${core}/policy/policy-facts.ts`,
    text: 'apply: (gov, { saved }, { onDurable }) => {',
    replacement: 'apply: (gov, { saved }, { isHere, onDurable }) => { if (!isHere) return nothingToApply();',
  },
];
