/**
 * The rules that all decide by. The plain one allows a search that asks for no more than a hundred results. Those of the
 * mix deny by three conditions. Reeve also holds deep searches for an approval, and counts what is spent in four tiers;
 * the others know neither.
 */
export interface Rules {
  readonly reeve: string;
  readonly rego: string;
  readonly cedar: string;
  /** A condition of OpenFGA, and the types of what it reads. */
  readonly openfga: { readonly expression: string; readonly parameters: Readonly<Record<string, string>> };
}

const plainRules: Rules = {
  reeve: `
name: base
default: deny
rules:
  - name: small-searches
    effect: allow
    tools: ["search.*"]
    when: args.limit <= 100
`,
  rego: `package reeve

default allow := false

allow if {
	startswith(input.tool, "search.")
	input.args.limit <= 100
}
`,
  cedar: `permit (principal, action == Action::"call", resource)
when { context.tool like "search.*" && context.args.limit <= 100 };
`,
  openfga: { expression: 'limit <= 100', parameters: { limit: 'TYPE_NAME_INT' } },
};

const mixRules: Rules = {
  reeve: `
name: base
default: deny
budget:
  daily_limit_usd: 100000000
  org_daily_limit_usd: 100000000
  team_daily_limit_usd: 100000000
  agent_daily_limit_usd: 100000000
rules:
  - name: large-searches
    effect: deny
    tools: ["search.*"]
    when: args.limit > 100
  - name: unsafe-searches
    effect: deny
    tools: ["search.*"]
    when: args.safe == false
  - name: unknown-languages
    effect: deny
    tools: ["search.*"]
    when: args.language.startsWith("x-")
  - name: deep-searches
    effect: require_approval
    tools: ["search.deep"]
  - name: searches
    effect: allow
    tools: ["search.web"]
`,
  rego: `package reeve

default allow := false

allow if {
	startswith(input.tool, "search.")
	not denied
}

denied if input.args.limit > 100

denied if input.args.safe == false

denied if startswith(input.args.language, "x-")
`,
  cedar: `permit (principal, action == Action::"call", resource)
when { context.tool like "search.*" };

forbid (principal, action, resource) when { context.args.limit > 100 };

forbid (principal, action, resource) when { context.args.safe == false };

forbid (principal, action, resource) when { context.args.language like "x-*" };
`,
  openfga: {
    expression: 'limit <= 100 && safe && !language.startsWith("x-")',
    parameters: { limit: 'TYPE_NAME_INT', safe: 'TYPE_NAME_BOOL', language: 'TYPE_NAME_STRING' },
  },
};

export function rulesOf(isMixed: boolean): Rules {
  return isMixed ? mixRules : plainRules;
}
