/** Many policy documents that never decide about the load: their cost is finding that out. */
export function manyPolicies(documents: number, orgs: number): Record<string, string> {
  const files: Record<string, string> = {};
  for (let number = 0; number < documents; number++) {
    const global = number % 2 === 0;
    files[`policy-${number}.yaml`] = global ? globalDocument(number) : orgDocument(number, `org-${number % orgs}`);
  }
  return files;
}

function globalDocument(number: number): string {
  return `
name: tools-${number}
scope: global
rules:
  - name: allowed
    effect: allow
    tools: ["crm-${number}.read", "crm-${number}.list.*"]
  - name: refused
    effect: deny
    tools: ["crm-${number}.delete*", "billing-${number}.*"]
  - name: hosts
    effect: deny
    hosts: ["host-${number}.example.com"]
`;
}

function orgDocument(number: number, org: string): string {
  return `
name: org-rules-${number}
scope: org:${org}
rules:
  - name: files
    effect: deny
    paths: ["/srv/${number}/**"]
  - name: tools
    effect: deny
    tools: ["payroll-${number}.*", "export-${number}"]
`;
}
