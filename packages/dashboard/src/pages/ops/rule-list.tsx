import type { Answer } from '../../api/send.ts';
import { Badge } from '../../ui/badge.tsx';
import { RuleLink } from '../../ui/rule-link.tsx';

type Rule = Answer<'explainDecision'>['rules'][number];

/** Every considered rule and why it matched, with those that did not behind a click. */
export function RuleList({ rules }: { readonly rules: readonly Rule[] }) {
  const matched = rules.filter((rule) => rule.matched);
  const others = rules.filter((rule) => !rule.matched);
  return (
    <>
      <Rules rules={matched} />
      {others.length === 0 ? null : (
        <details>
          <summary className="min-h-6 text-sm text-muted">
            {others.length === 1 ? '1 rule that did not match' : `${others.length} rules that did not match`}
          </summary>
          <Rules rules={others} />
        </details>
      )}
    </>
  );
}

const tones = { allow: 'ok', deny: 'danger', require_approval: 'warn', mask: 'info' } as const satisfies Record<
  Rule['effect'],
  string
>;
const effects = { allow: 'allow', deny: 'deny', require_approval: 'ask a person', mask: 'mask the prompt' } as const;

function Rules({ rules }: { readonly rules: readonly Rule[] }) {
  return (
    <ul className="mt-1 space-y-1.5">
      {rules.map((rule) => (
        <li key={`${rule.document}/${rule.rule}`} className="rounded-md border px-2.5 py-1.5">
          <span className="flex flex-wrap items-center gap-2">
            <Badge tone={rule.matched ? tones[rule.effect] : 'neutral'}>{effects[rule.effect]}</Badge>
            <RuleLink rule={`${rule.document}/${rule.rule}`} />
            {rule.observed ? <Badge title="Its document is only observed: it decides nothing.">observed</Badge> : null}
          </span>
          <span className="block text-sm break-words text-muted">{rule.why}</span>
        </li>
      ))}
    </ul>
  );
}
