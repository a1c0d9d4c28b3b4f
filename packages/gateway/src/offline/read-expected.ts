import type { Member } from '@reeve/core';
import type { Document } from 'yaml';
import type { CaseYaml } from './case-yaml.ts';
import type { ExpectedAnswer } from './policy-case.ts';

type Found = Partial<Record<keyof ExpectedAnswer, Member>>;

/** Reads what a case expects. */
export function readExpected(yaml: CaseYaml, document: Document.Parsed, found: Found): ExpectedAnswer {
  const { decision, rule, reason, reserved_micros: reserved, audited, limit, observed } = found;
  const decided = decision === undefined ? undefined : yaml.choice(decision.value, '"decision"', decisions);
  return {
    decision: decided ?? 'deny',
    ...(rule === undefined ? {} : { rule: yaml.textOf(rule) }),
    ...(reason === undefined ? {} : { reason: yaml.textOf(reason) }),
    ...(reserved === undefined ? {} : { reserved_micros: yaml.wholeOf(reserved) }),
    ...(audited === undefined ? {} : { audited: yaml.textOf(audited) }),
    ...(limit === undefined ? {} : { limit: limitOf(yaml, document, limit) }),
    ...(observed === undefined ? {} : { observed: observedOf(yaml, document, observed) }),
  };
}

const decisions = ['allow', 'deny', 'pending'] as const;
const limitKeys = ['tier', 'period', 'limit_micros', 'spent_micros', 'status'] as const;

function limitOf(yaml: CaseYaml, document: Document.Parsed, member: Member): Readonly<Record<string, unknown>> {
  const found = yaml.known(document, member.value, '"limit"', limitKeys);
  return Object.fromEntries(Object.entries(found).map(([name, one]) => [name, yaml.jsonOf(document, one)]));
}

function observedOf(yaml: CaseYaml, document: Document.Parsed, member: Member): unknown[] {
  return (yaml.items(document, member.value, '"observed"') ?? []).map((item) => {
    const { rule, effect } = yaml.known(document, item, '"observed"', ['rule', 'effect']);
    return { rule: yaml.textOf(rule), effect: yaml.textOf(effect) };
  });
}
