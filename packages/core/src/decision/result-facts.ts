import type { Action, User } from '../action/index.ts';
import { scanJson, withoutMark } from '../action/index.ts';
import type { EpochMs } from '../kernel/index.ts';
import type { ResultFacts, RunFacts, SpendFacts } from '../policy/index.ts';
import { NotRecorded } from '../policy/index.ts';
import type { AgentRecord } from '../tenancy/index.ts';
import type { RecordedCall } from './recorded-call.ts';
import { shownAction, shownJson, shownUser } from './hidden-texts.ts';
import { isOmission } from './omission.ts';
import { RecordedFacts } from './recorded-facts.ts';

/** One of those whose rules judge a result: the agent, or one on whose behalf it acts. */
export interface Party {
  readonly record: AgentRecord;
  readonly depth: number;
}

/** What holds at the moment at which a result is judged. */
export interface ResultMoment {
  readonly now: EpochMs;
  run(): RunFacts;
  spendOf(party: Party): SpendFacts;
}

/**
 * What held when a call was checked, as far as the log has it. A prompt is judged by that: a rule by which the check said that
 * it is masked must not have stopped matching since, because the run has counted that very check.
 */
export function momentOfCheck(call: RecordedCall, own: Party | undefined): ResultMoment {
  const recorded = new RecordedFacts(call, own?.record, call.costMicros);
  return {
    now: call.at,
    run: () => recorded.run(),
    spendOf: (party) => {
      if (party === own) return recorded.spend();
      throw new NotRecorded('what those above the agent had spent is not recorded');
    },
  };
}

/** More would take long to build, and no condition looks at so much. */
const mostValues = 1_000_000;
const deepest = 1000;

/** What a call brought back. It is parsed once, if any condition asks. */
export class ResultText {
  readonly text: string;
  #parsed: { readonly value: unknown } | undefined;

  constructor(text: string) {
    this.text = text;
  }

  /** The parsed JSON; the text where it is none. */
  get value(): unknown {
    this.#parsed ??= { value: this.#parse() };
    return this.#parsed.value;
  }

  #parse(): unknown {
    const json = withoutMark(this.text);
    const scanned = scanJson(json, { depth: deepest, values: mostValues });
    if (scanned === 'malformed') return this.text;
    if (scanned === 'too deep' || scanned > mostValues) {
      throw new Error(`conditions do not look at results with more than ${mostValues} values`);
    }
    return JSON.parse(json);
  }
}

/**
 * What conditions on a result may read. What is about the call comes from the log: what that does not hold is an error
 * of the condition, never guessed, and neither is what was replaced there as a secret. The run, the spend and the time are the present ones.
 */
export class CallOfResult implements ResultFacts {
  readonly agent: AgentRecord;
  readonly depth: number;
  readonly action: Action;
  readonly now: EpochMs;
  readonly costUsd: number;
  readonly #recorded: RecordedFacts;
  readonly #party: Party;
  readonly #moment: ResultMoment;
  readonly #result: ResultText;

  constructor(call: RecordedCall, party: Party, moment: ResultMoment, result: ResultText) {
    this.#recorded = new RecordedFacts(asItRan(call), party.record, call.costMicros);
    this.#party = party;
    this.#moment = moment;
    this.#result = result;
    this.agent = party.record;
    this.depth = party.depth;
    this.action = shownAction(call.action);
    this.now = moment.now;
    this.costUsd = this.#recorded.costUsd;
  }

  args(): unknown {
    return shownJson(this.#recorded.args(), 'the arguments');
  }

  annotations(): unknown {
    return shownJson(this.#recorded.annotations(), 'the annotations');
  }

  user(): User | null {
    return shownUser(this.#recorded.user());
  }

  run(): RunFacts {
    return this.#moment.run();
  }

  spend(): SpendFacts {
    return this.#moment.spendOf(this.#party);
  }

  result(): unknown {
    return this.#result.value;
  }

  resultText(): string {
    return this.#result.text;
  }
}

/** The call with the arguments that it was allowed with. */
function asItRan(call: RecordedCall): RecordedCall {
  const { rewrittenArgs } = call;
  if (rewrittenArgs === undefined) return call;
  const argsOmitted = isOmission(rewrittenArgs);
  return { ...call, args: argsOmitted ? undefined : rewrittenArgs, argsOmitted };
}
