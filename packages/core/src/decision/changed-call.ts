import type { JudgedAgent, Verdict } from '../policy/index.ts';
import type { Agent } from '../tenancy/index.ts';
import type { RewrittenCall } from './rewritten-call.ts';

/** The verdict on a call after rules have changed it, and what they change. */
export interface ChangedCall<Request> {
  readonly strictest: Verdict;
  readonly rewritten?: RewrittenCall<Request>;
  /** Rules mask the prompt. It is not part of a check, so that happens afterwards. */
  readonly masksPrompt?: true;
  /** Whose rules count for it, with what conditions read of the call as it is to run. */
  readonly parties: readonly JudgedParty[];
}

/** Somebody whose rules count for a call. */
export type JudgedParty = JudgedAgent & { readonly agent: Pick<Agent, 'record'> };
