/**
 * Policies that examine each request closely: four conditions over arguments, spend, run and time, which all let the
 * load pass, and caps in every tier that it never reaches. The other documents are about other tools, with their own
 * conditions, and about tenants, with their own caps.
 */
export function conditionPolicies(documents: number, orgs: number): Record<string, string> {
  const files: Record<string, string> = { 'watched.yaml': watched };
  for (let number = 0; Object.keys(files).length < documents; number++) {
    files[`policy-${number}.yaml`] =
      number < orgs ? tenantDocument(number) : number % 2 === 0 ? toolDocument(number) : orgDocument(number, orgs);
  }
  return files;
}

const watched = `
name: watched
budget:
  daily_limit_usd: 100000000
  monthly_limit_usd: 100000000
  org_daily_limit_usd: 100000000
  org_monthly_limit_usd: 100000000
  team_daily_limit_usd: 100000000
  team_monthly_limit_usd: 100000000
  agent_daily_limit_usd: 100000000
  agent_monthly_limit_usd: 100000000
  timezone: Europe/Berlin
pricing:
  gpt-*: { input_per_mtok_usd: 3, output_per_mtok_usd: 15 }
rules:
  - name: safe-searches
    effect: deny
    tools: ["search.*"]
    when: args.safe == false || args.limit > 1000 || args.language.startsWith("x-")
  - name: spent
    effect: deny
    tools: ["search.*"]
    when: spend.org.day_usd + action.cost_usd > 90000000.0 || spend.agent.month_usd > 90000000.0
  - name: long-runs
    effect: require_approval
    tools: ["search.*"]
    when: run.checks > 1000000000 || run.spent_usd > 90000000.0
  - name: by-night
    effect: deny
    tools: ["search.*"]
    when: agent.framework == "nightly" && now.getHours("Europe/Berlin") < 6
`;

function tenantDocument(number: number): string {
  return `
name: tenant-${number}
scope: org:org-${number}
budget: { daily_limit_usd: 100000000, monthly_limit_usd: 100000000 }
rules:
  - name: payroll
    effect: deny
    tools: ["payroll-${number}.*"]
    when: args.amount > 10 && agent.team_id != "finance"
`;
}

function toolDocument(number: number): string {
  return `
name: tools-${number}
rules:
  - name: allowed
    effect: allow
    tools: ["crm-${number}.read", "crm-${number}.list.*"]
    when: args.limit <= 100 && spend.team.day_usd < 50.0
  - name: refused
    effect: deny
    tools: ["crm-${number}.delete*", "billing-${number}.*"]
    when: "!(agent.metadata.stage in ['test', 'dev'])"
`;
}

function orgDocument(number: number, orgs: number): string {
  return `
name: org-rules-${number}
scope: org:org-${number % orgs}
rules:
  - name: files
    effect: deny
    paths: ["/srv/${number}/**"]
    when: action.operation == "write"
  - name: exports
    effect: require_approval
    tools: ["export-${number}"]
    when: args.rows > 1000
`;
}
