/** The policies of the demo gateway, as files: a small but complete example of the policy language. */
export const demoPolicies: Readonly<Record<string, string>> = {
  'demo.yaml': `# Everybody: what is never done, what a person decides, what is plain work.
name: demo
default: deny
rules:
  - name: no-destruction
    effect: deny
    commands: ['rm -rf **', 'dd **', 'mkfs**']
  - name: no-cloud-metadata
    effect: deny
    hosts: ['169.254.169.254', 'metadata.google.internal']
  - name: no-secrets
    effect: deny
    paths: ['**/.env', '**/.ssh/**', '**/credentials*']
  - name: large-refunds
    effect: require_approval
    tools: ['payments.refund']
    when: args.amount_usd > 50
    approvals: { ttl_secs: 600 }
  - name: production-deploys
    effect: require_approval
    commands: ['kubectl apply *']
    when: action.command == "kubectl"
    approvals: { count: 2, ttl_secs: 900 }
  - name: pushes
    effect: require_approval
    commands: ['git push *']
    approvals: { ttl_secs: 600 }
  - name: closing-tickets
    effect: require_approval
    tools: ['close_ticket']
    when: action.source == "tickets"
    approvals: { ttl_secs: 600 }
  - name: small-refunds
    effect: allow
    tools: ['payments.refund']
    when: args.amount_usd <= 50
  - name: reading
    effect: allow
    tools: ['tickets.*', 'search', 'docs.*', 'crm.read']
  - name: ticket-server
    effect: allow
    tools: ['list_tickets', 'answer_ticket']
    when: action.source == "tickets"
  - name: models
    effect: allow
    actions: [llm_call]
  - name: known-hosts
    effect: allow
    hosts: ['*.example.com', 'api.example.org']
  - name: workspace
    effect: allow
    paths: ['/workspace/**']
  - name: shells
    effect: allow
    commands: ['git *', 'npm test*', 'head *', 'kubectl get *']
  - name: spawning
    effect: allow
    actions: [agent_spawn]
budget:
  daily_limit_usd: 1500
  monthly_limit_usd: 40000
  org_daily_limit_usd: 600
  team_daily_limit_usd: 500
  agent_daily_limit_usd: 300
  timezone: Europe/Berlin
  action_on_exceed: deny
pricing:
  'opus-*': { input_per_mtok_usd: 5, output_per_mtok_usd: 25 }
  'sonnet-*': { input_per_mtok_usd: 3, output_per_mtok_usd: 15 }
  '*': { input_per_mtok_usd: 1, output_per_mtok_usd: 5 }
`,
  'demo-globex.yaml': `# One org's own cap and rule, in a document that touches nobody else.
name: globex-finance
scope: org:demo-globex
rules:
  - name: no-weekend-wires
    effect: deny
    tools: ['wire.*']
budget:
  daily_limit_usd: 40
`,
  'demo-people.yaml': `# What an agent may do depends on for whom it acts. Without a proven user, no rule here allows anything.
name: office
scope: team:demo-acme/office
rules:
  - name: no-payroll-for-contractors
    effect: deny
    tools: ['payroll.*']
    users: ['*@contractors.example.com']
  - name: expenses
    effect: require_approval
    tools: ['expenses.pay']
    users: ['*@example.com']
    approvals: { ttl_secs: 600, not_user: true }
  - name: for-somebody
    effect: allow
    tools: ['mail.read', 'calendar.*', 'payroll.read']
    users: ['*']
`,
  'demo-labels.yaml': `# What an agent has read decides what it may do from then on, in the same run. A person can clear the label.
name: inbox
scope: team:demo-initech/inbox
rules:
  - name: from-strangers
    effect: allow
    tools: ['web.open']
    labels: [untrusted]
  - name: nothing-leaves
    effect: deny
    tools: ['mail.send', 'files.share']
    when: '"untrusted" in run.labels'
  - name: own-mail
    effect: allow
    tools: ['mail.send', 'files.read']
`,
  'demo-observed.yaml': `# Tried out before it is enforced: what it would have done is on record, and nothing more.
name: stricter-search
mode: observe
rules:
  - name: no-free-search
    effect: deny
    tools: [search]
    when: run.checks > 5
`,
};

/** A document that the demo stores over the API in two versions, so that there is a history. */
export const storedPolicy = {
  name: 'acme-support',
  versions: [
    `name: acme-support
scope: team:demo-acme/support
rules:
  - name: no-exports
    effect: deny
    tools: ['crm.export']
`,
    `name: acme-support
scope: team:demo-acme/support
rules:
  - name: no-exports
    effect: deny
    tools: ['crm.export', 'crm.bulk_*']
  - name: office-hours
    effect: deny
    tools: ['tickets.close_all']
`,
  ],
} as const;
