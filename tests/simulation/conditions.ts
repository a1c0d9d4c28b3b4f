import type { Facts, GovernancePorts, ResultFacts } from '@reeve/core';

type Features = Required<Pick<GovernancePorts['policyFeatures'], 'compileCondition' | 'compileResultCondition'>>;
type Condition = ReturnType<Features['compileCondition']>;
type ResultCondition = ReturnType<Features['compileResultCondition']>;

/** More than a result between decisions may cost, and less than one that is judged aside. */
const dearly = 1_000_000;

/** Conditions of simulated policies: `run.checks % N == M` and `NAME in LIST`; and one expression of rewriting, `run.labels`. */
export const conditions: GovernancePorts['policyFeatures'] = {
  compileCondition: (source) => ofChecks(source) ?? ofList(source) ?? unknown(source),
  compileResultCondition: (source) => ofResult(source) ?? unknown(source),
  compileValue: (source) => (source === 'run.labels' ? (facts) => facts.run().labels.join(',') : unknown(source)),
};

function unknown(source: string): never {
  throw new Error(`no simulated gateway knows the expression ${source}`);
}

function ofChecks(source: string): Condition | undefined {
  const [, by, rest] = /^run\.checks % (\d+) == (\d+)$/.exec(source) ?? [];
  return by === undefined ? undefined : (facts) => facts.run().checks % Number(by) === Number(rest);
}

function ofList(source: string): Condition | undefined {
  const [, name, list] = /^(\w+) in (run\.labels|args\.seen)$/.exec(source) ?? [];
  if (name === undefined) return undefined;
  if (list === 'args.seen') return (facts) => seenIn(facts).includes(name);
  return Object.assign((facts: Facts) => facts.run().labels.includes(name), { readsLabels: true } as const);
}

function ofResult(source: string): ResultCondition | undefined {
  const [, word] = /^(\w+) in result_text$/.exec(source) ?? [];
  const found = word === undefined ? ofList(source) : (facts: ResultFacts) => facts.resultText().includes(word);
  if (found === undefined) return undefined;
  return (facts, evaluation) => {
    if (facts.resultText().includes('dear')) evaluation?.charge(dearly);
    return found(facts);
  };
}

/** The labels that rules have written into the arguments. */
function seenIn(facts: Facts): readonly string[] {
  const { seen } = facts.args() as { readonly seen?: string };
  return seen?.split(',') ?? [];
}
