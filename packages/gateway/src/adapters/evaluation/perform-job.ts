import type { AgentId } from '@reeve/core';
import {
  considerAgain,
  judgeAgain,
  parseCheckRequest,
  parseSource,
  plainSource,
  requireUnbound,
  simulate,
  validatePolicy,
} from '@reeve/core';
import { judgeCases } from '../../offline/judge-cases.ts';
import { policyFeatures } from '../cel/policy-features.ts';
import type { EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import type { ThreadWorld } from './thread-world.ts';

type Perform<Kind extends JobKind> = (
  world: ThreadWorld,
  input: EvaluationJobs[Kind]['in'],
) => EvaluationJobs[Kind]['out'] | Promise<EvaluationJobs[Kind]['out']>;

/** How each job is done. */
const jobs: { readonly [Kind in JobKind]: Perform<Kind> } = {
  read: (_world, { source }) => plainSource(parseSource(source, policyFeatures)),
  validate: (world, { by, source, name }) => validatePolicy(world.world(), by, { source, name }),
  simulate: (world, { by, request, candidate, facts }) =>
    simulate(world.world(facts), by, parseCheckRequest(request, world.world().mostActionMicros), candidate),
  requireCandidate: (world, { by, candidate }) => {
    world.candidate(by, candidate);
    return null;
  },
  judgeAgain: (world, { by, candidate, entries, agents }) => {
    const find = ({ orgId, teamId, agentId }: AgentId) =>
      agents.find(({ id }) => id.agentId === agentId && id.teamId === teamId && id.orgId === orgId);
    return judgeAgain(world.candidate(by, candidate), entries, find);
  },
  consider: async (world, { by, recorded, agent, past }) => {
    const set = await world.past(recorded.policyVersion, past);
    return set === undefined ? undefined : considerAgain(set, by, recorded, agent);
  },
  test: (world, { by, candidate, cases }) => {
    requireUnbound(by);
    const { policies, mostActionMicros } = world.world();
    const { documents } = candidate === undefined ? policies : world.candidate(by, candidate);
    return judgeCases(documents, cases, mostActionMicros);
  },
};

export function performJob<Kind extends JobKind>(
  world: ThreadWorld,
  kind: Kind,
  input: EvaluationJobs[Kind]['in'],
): EvaluationJobs[Kind]['out'] | Promise<EvaluationJobs[Kind]['out']> {
  const perform: Perform<Kind> = jobs[kind];
  return perform(world, input);
}
