import type { Effect, PolicyDocument, PolicyRule, PromptRule, ResultEffect, ResultRule } from './document.ts';
import type { CompiledRule } from './rule-index.ts';
import type { AnyRule } from './rule-matching.ts';

interface Written<Rule> {
  readonly document: PolicyDocument;
  readonly rule: Rule;
}

/** A rule on calls, with what is known about it at load time. */
export function compiledRule(written: Written<PolicyRule>, order: number): CompiledRule {
  return compiled(written, order, saying[written.rule.effect]);
}

export function compiledResult({ document, rule }: Written<ResultRule>, order: number): CompiledRule<ResultRule> {
  return { ...compiled({ document, rule }, order, sayingOfResults[rule.effect]), rule: resultAsJudged(rule) };
}

/** One that allows and labels counts where it fails, as one that masks does: a result must not get rid of its labels. */
export function resultAsJudged(rule: ResultRule): ResultRule {
  return rule.effect === 'allow' && rule.labels !== undefined ? { ...rule, effect: 'mask' } : rule;
}

/** A rule that masks prompts. */
export function compiledPrompt(written: Written<PromptRule>, order: number): CompiledRule<PromptRule> {
  return compiled(written, order, 'prompt masked by');
}

function compiled<Rule extends AnyRule>(
  { document, rule }: Written<Rule>,
  order: number,
  said: string,
): CompiledRule<Rule> {
  const id = `${document.name}/${rule.name}`;
  return { order, id, effect: rule.effect, reason: `${said} rule ${id}`, rule, document };
}

const saying: Readonly<Record<Effect, string>> = {
  allow: 'allowed by',
  deny: 'denied by',
  require_approval: 'approval required by',
};

const sayingOfResults: Readonly<Record<ResultEffect, string>> = {
  allow: 'result allowed by',
  deny: 'result denied by',
  mask: 'result masked by',
};
