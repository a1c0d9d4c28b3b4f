import type { Action, User } from '../action/index.ts';
import type { AgentId, EpochMs, Micros } from '../kernel/index.ts';
import { microsPerUsd } from '../kernel/index.ts';
import type { RunFacts, SpendFacts, Facts } from '../policy/index.ts';
import { NotRecorded } from '../policy/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import { unregisteredAgent } from '../tenancy/index.ts';
import type { RecordedCall } from './recorded-call.ts';

/**
 * What conditions may read of a call that is judged again. Time and arguments are those of the call. What the log
 * does not hold is `NotRecorded`, never guessed. Name, framework and metadata are the agent's present ones.
 */
export class RecordedFacts implements Facts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  readonly #recorded: RecordedCall;
  /** Whether a condition has asked for something that is not recorded. */
  lacking = false;

  constructor(recorded: RecordedCall, agent: AgentRecord | undefined, cost: Micros) {
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
    this.#requireExact();
    return this.#recorded.args ?? {};
  }

  annotations(): unknown {
    if (this.#recorded.annotationsOmitted) this.#lack('the annotations were too long to be recorded');
    this.#requireExact();
    return this.#recorded.annotations ?? {};
  }

  run(): RunFacts {
    const { runId: id, run } = this.#recorded;
    const lack = () => this.#lack('what had happened in the run is not recorded');
    return {
      id,
      get checks() {
        return run.checks ?? lack();
      },
      get spent_usd() {
        return run.spent_usd ?? lack();
      },
      get labels() {
        return run.labels ?? lack();
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

  user(): User | null {
    const { user, userGroups } = this.#recorded;
    if (user === undefined) return null;
    const lack = (what: string) => this.#lack(what);
    return {
      issuer: user.issuer,
      sub: user.sub,
      email: user.email,
      get groups() {
        return userGroups ?? lack('the groups of the user are not recorded');
      },
      get claims() {
        return lack('the claims of the user are not recorded');
      },
    };
  }

  #requireExact(): void {
    if (this.#recorded.inexact) this.#lack('a number that was sent cannot be recorded as one');
  }

  #lack(what: string): never {
    this.lacking = true;
    throw new NotRecorded(what);
  }
}

/** An agent that has left: only its ids are known. */
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
