import type { GovernancePorts } from '@reeve/core';

/** Conditions of simulated policies: `run.checks % N == M`. */
export const conditions: GovernancePorts['policyFeatures'] = {
  compileCondition: (source) => {
    const [, by, rest] = /^run\.checks % (\d+) == (\d+)$/.exec(source) ?? [];
    if (by === undefined) throw new Error(`no simulated gateway knows the condition ${source}`);
    return (facts) => facts.run().checks % Number(by) === Number(rest);
  },
};
