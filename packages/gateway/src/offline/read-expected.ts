import type { Member } from '@reeve/core';
import type { Document } from 'yaml';
import type { CaseYaml } from './case-yaml.ts';
import type { ExpectedAnswer } from './policy-case.ts';

type Found = Partial<Record<keyof ExpectedAnswer, Member>>;

export function readExpected(yaml: CaseYaml, document: Document.Parsed, found: Found): ExpectedAnswer {
  const { decision, rule, reason, reserved_micros: reserved, audited, limit, observed, approvals } = found;
  const { rewritten_args: rewritten, labels, judge_result: judge, on_result: onResult } = found;
  const decided = decision === undefined ? undefined : yaml.choice(decision.value, '"decision"', decisions);
  return {
    decision: decided ?? 'deny',
    ...(rule === undefined ? {} : { rule: yaml.textOf(rule) }),
    ...(reason === undefined ? {} : { reason: yaml.textOf(reason) }),
    ...(reserved === undefined ? {} : { reserved_micros: yaml.wholeOf(reserved) }),
    ...(audited === undefined ? {} : { audited: yaml.textOf(audited) }),
    ...(limit === undefined ? {} : { limit: partsOf(yaml, document, limit, limitKeys) }),
    ...(observed === undefined ? {} : { observed: observedOf(yaml, document, observed) }),
    ...(approvals === undefined ? {} : { approvals: partsOf(yaml, document, approvals, approvalKeys) }),
    ...(rewritten === undefined ? {} : { rewritten_args: yaml.jsonOf(document, rewritten) }),
    ...(labels === undefined ? {} : { labels: textsOf(yaml, document, labels) }),
    ...(judge === undefined ? {} : { judge_result: yaml.flag(judge.value, '"judge_result"') ?? false }),
    ...(onResult === undefined ? {} : { on_result: partsOf(yaml, document, onResult, resultKeys) }),
  };
}

const decisions = ['allow', 'deny', 'pending'] as const;
const limitKeys = ['tier', 'period', 'limit_micros', 'spent_micros', 'status'] as const;

const resultKeys = ['effect', 'rule', 'reason', 'masked', 'labels', 'counts'] as const;
const approvalKeys = ['rules', 'count', 'ttl_secs', 'grants'] as const;

function partsOf(
  yaml: CaseYaml,
  document: Document.Parsed,
  member: Member,
  keys: readonly string[],
): Readonly<Record<string, unknown>> {
  const found = yaml.known(document, member.value, `"${member.name}"`, keys);
  return Object.fromEntries(
    Object.entries(found).flatMap(([name, one]) => (one === undefined ? [] : [[name, yaml.jsonOf(document, one)]])),
  );
}

function textsOf(yaml: CaseYaml, document: Document.Parsed, member: Member): string[] {
  const items = yaml.items(document, member.value, `"${member.name}"`) ?? [];
  return items.map((item) => yaml.text(item, `an item of "${member.name}"`) ?? '');
}

function observedOf(yaml: CaseYaml, document: Document.Parsed, member: Member): unknown[] {
  return (yaml.items(document, member.value, '"observed"') ?? []).map((item) => {
    const { rule, effect } = yaml.known(document, item, '"observed"', ['rule', 'effect']);
    return { rule: yaml.textOf(rule), effect: yaml.textOf(effect) };
  });
}
