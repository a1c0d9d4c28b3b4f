import type { Facts, GovernancePorts } from '@reeve/core';

type Condition = (facts: Facts) => boolean;

/** Conditions of simulated policies: `run.checks % N == M` and `NAME in run.labels`. */
export const conditions: GovernancePorts['policyFeatures'] = {
  compileCondition: (source) => {
    const found = ofChecks(source) ?? ofLabels(source);
    if (found === undefined) throw new Error(`no simulated gateway knows the condition ${source}`);
    return found;
  },
};

function ofChecks(source: string): Condition | undefined {
  const [, by, rest] = /^run\.checks % (\d+) == (\d+)$/.exec(source) ?? [];
  return by === undefined ? undefined : (facts) => facts.run().checks % Number(by) === Number(rest);
}

function ofLabels(source: string): Condition | undefined {
  const [, name] = /^(\w+) in run\.labels$/.exec(source) ?? [];
  return name === undefined ? undefined : (facts) => facts.run().labels.includes(name);
}
