import type { AgentId, ConsideredRule } from '@reeve/core';
import {
  acceptedBefore,
  considerAgain,
  costAside,
  judgeAgain,
  judgeResult,
  parseCheckRequest,
  parseSource,
  plainSource,
  simulate,
  validatePolicy,
} from '@reeve/core';
import type { JudgedCases } from '../../evaluation/policy-evaluator.ts';
import { judgeCases } from '../../offline/judge-cases.ts';
import { readCases } from '../../offline/read-cases.ts';
import { policyFeatures } from '../cel/policy-features.ts';
import { utf8 } from '../system/utf8.ts';
import type { EvaluationJobs, JobKind } from './evaluation-jobs.ts';
import type { ThreadWorld } from './thread-world.ts';

type Perform<Kind extends JobKind> = (
  world: ThreadWorld,
  input: EvaluationJobs[Kind]['in'],
) => EvaluationJobs[Kind]['out'] | Promise<EvaluationJobs[Kind]['out']>;

/** How each job is performed. */
const jobs: { readonly [Kind in JobKind]: Perform<Kind> } = {
  read: (_world, { source, accepted }) =>
    plainSource(parseSource(source, accepted ? acceptedBefore(policyFeatures) : policyFeatures)),
  validate: (world, { by, source, name }) => validatePolicy(world.world(), by, { source, name }),
  simulate: (world, { by, request, candidate, brought, facts }) => {
    const asked = parseCheckRequest(request, world.world().mostActionMicros);
    const found = withFewRules(simulate(world.world(facts), by, asked, candidate, brought));
    return found.result === undefined ? found : { ...found, result: withFewRules(found.result) };
  },
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
    const set = await world.past(recorded.policyVersion, recorded.agent.orgId, past);
    return set === undefined ? undefined : withFewRules({ rules: considerAgain(set, by, recorded, agent) }).rules;
  },
  judgeResult: (world, { result, moment: { now, run, spends } }) => {
    const { policies, sha256 } = world.world();
    return judgeResult({ policies, sha256, ...utf8, costOf: costAside }, result, {
      now,
      run: () => run,
      spendOf: (party) => spends[result.parties.indexOf(party)] ?? fail(),
    });
  },
  orgsOfCases: (world, { cases }) => {
    const { groups } = readCases({ file: 'cases', text: cases }, world.world().mostActionMicros);
    const asked = groups.flatMap((group) => group.cases.flatMap((each) => [each, ...each.before]));
    return [...new Set(asked.map(({ agent }) => agent.orgId))];
  },
  test: (world, { by, candidate, cases }) => {
    const { policies, mostActionMicros } = world.world();
    const { documents } = candidate === undefined ? policies : world.candidate(by, candidate);
    return withoutMatches(judgeCases(documents, cases, mostActionMicros));
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

function fail(): never {
  throw new Error('what somebody has spent was not brought along');
}

/** The most rules in an answer: copying more would delay decisions. */
const mostRules = 10_000;

/** Keeps the rules that match first, then others, up to the limit. */
function withFewRules<Told extends { readonly rules: readonly ConsideredRule<unknown>[] }>(told: Told): Told {
  const { rules } = told;
  if (rules.length <= mostRules) return told;
  const kept = new Set(rules.toSorted((one, other) => Number(other.matched) - Number(one.matched)).slice(0, mostRules));
  return { ...told, rules: rules.filter((rule) => kept.has(rule)) };
}

/** Only the command line shows which rules match in a case, and it judges cases itself. */
function withoutMatches(judged: JudgedCases): JudgedCases {
  if ('problems' in judged) return judged;
  return { report: { ...judged.report, cases: judged.report.cases.map((one) => ({ ...one, matched: [] })) } };
}
