const example = `# Who asks for what, and what the answer must be.
about: What this document is for.
cases:
  - case: reading is allowed
    agent: acme/support/helper
    action: { type: tool_call, tool: search }
    decision: allow
  - case: deleting is not
    agent: acme/support/helper
    action: { type: tool_call, tool: delete_customer }
    decision: deny
`;

/** The cases that this browser keeps for a document; an example to begin with. */
export function keptCases(name: string): string {
  try {
    return localStorage.getItem(keyOf(name)) ?? example;
  } catch {
    // A browser may not allow it.
    return example;
  }
}

export function keepCases(name: string, text: string): void {
  try {
    localStorage.setItem(keyOf(name), text);
  } catch {
    // They last as long as the page, then.
  }
}

function keyOf(name: string): string {
  return `reeve.cases.${name}`;
}
