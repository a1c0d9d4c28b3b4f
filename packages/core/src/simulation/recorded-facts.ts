import { microsPerUsd } from '../kernel/money.ts';
import type { Micros } from '../kernel/money.ts';
import type { EpochMs } from '../kernel/clock.ts';
import type { Facts, RunFacts, SpendFacts } from '../policy/condition.ts';
import { NotRecorded } from '../policy/condition.ts';
import type { AgentRecord } from '../tenancy/agent.ts';
import type { AgentId } from '../kernel/agent-id.ts';
import { unregisteredAgent } from '../tenancy/agent.ts';
import type { Action } from '../action/action.ts';
import type { RecordedDecision } from './recorded-decision.ts';

/**
 * What conditions may look at when a decision is judged again. Time and arguments are those of the decision; what the
 * log does not hold is `NotRecorded`, and never guessed. Name, framework and metadata are the agent's present ones.
 */
export class RecordedFacts implements Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  readonly #recorded: RecordedDecision;
  /** Whether a condition has asked for what is not recorded. */
  lacking = false;

  constructor(recorded: RecordedDecision, agent: AgentRecord | undefined, cost: Micros) {
    const lack = (what: string) => this.#lack(what);
    this.agent = agent ?? unknownAgent(recorded.agent, lack);
    this.depth = recorded.depth;
    this.action = recorded.action;
    this.now = recorded.at;
    this.costUsd = cost / microsPerUsd;
    this.#recorded = recorded;
  }

  args(): unknown {
    if (this.#recorded.argsOmitted) this.#lack('the arguments were too long to be recorded');
    return this.#recorded.args ?? {};
  }

  run(): RunFacts {
    const { runId: id, run } = this.#recorded;
    const lack = () => this.#lack('what had happened in the run is not recorded');
    if (run !== undefined) return { id, ...run };
    return {
      id,
      get checks() {
        return lack();
      },
      get spent_usd() {
        return lack();
      },
    };
  }

  spend(): SpendFacts {
    const spend = this.#recorded.spend ?? this.#lack('spend is not recorded');
    const lack = () => this.#lack('what everybody together had spent is not recorded');
    return {
      ...spend,
      get global() {
        return lack();
      },
    };
  }

  #lack(what: string): never {
    this.lacking = true;
    throw new NotRecorded(what);
  }
}

/** An agent that has left: of it is known who it was. */
function unknownAgent(id: AgentId, lack: (what: string) => never): AgentRecord {
  const gone = 'the agent is not registered any more';
  return {
    ...unregisteredAgent(id),
    get name() {
      return lack(gone);
    },
    get framework() {
      return lack(gone);
    },
    get metadata() {
      return lack(gone);
    },
  };
}
