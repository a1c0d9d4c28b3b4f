import type { Decision } from '../audit/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { agentKey } from '../kernel/index.ts';
import type { ChangedDecision } from './judge-again.ts';

interface Turn {
  readonly was: Decision;
  readonly wouldBe: Decision;
}

type Counted<Of> = Of & Turn & { readonly count: number };

export interface BacktestSummary {
  /** How many decisions were examined. */
  readonly examined: number;
  /** How many of these were recorded in a way that cannot be judged again. */
  readonly skipped: number;
  readonly changed: number;
  readonly byOutcome: readonly Counted<object>[];
  /** By the candidate's rule that would decide. */
  readonly byRule: readonly Counted<{ readonly rule: string }>[];
  readonly byAgent: readonly Counted<{ readonly agent: AgentId }>[];
}

/** How many rules or agents are listed: those with the most changes. */
const mostTold = 1000;

/** Counts what would change. */
export class BacktestTally {
  examined = 0;
  skipped = 0;
  changed = 0;
  readonly #byOutcome = new Counter<object>();
  readonly #byRule = new Counter<{ readonly rule: string }>();
  readonly #byAgent = new Counter<{ readonly agent: AgentId }>();

  add({ recorded: { agent }, was, wouldBe, wouldBeRule: rule }: ChangedDecision): void {
    this.changed++;
    const turn = { was, wouldBe };
    this.#byOutcome.add('', turn, {});
    this.#byRule.add(rule, turn, { rule });
    this.#byAgent.add(agentKey(agent), turn, { agent });
  }

  summary(): BacktestSummary {
    const { examined, skipped, changed } = this;
    return {
      examined,
      skipped,
      changed,
      byOutcome: this.#byOutcome.all(),
      byRule: this.#byRule.all(),
      byAgent: this.#byAgent.all(),
    };
  }
}

class Counter<Of extends object> {
  readonly #counts = new Map<string, { readonly of: Of & Turn; count: number }>();

  add(name: string, turn: Turn, of: Of): void {
    const key = `${turn.was}>${turn.wouldBe} ${name}`;
    const known = this.#counts.get(key);
    if (known === undefined) this.#counts.set(key, { of: { ...of, ...turn }, count: 1 });
    else known.count++;
  }

  /** Highest count first. */
  all(): Counted<Of>[] {
    return [...this.#counts.values()]
      .toSorted((left, right) => right.count - left.count)
      .slice(0, mostTold)
      .map(({ of, count }) => ({ ...of, count }));
  }
}
