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

/** The stored cases of a document, or an example to start with. */
export function keptCases(name: string): string {
  try {
    return localStorage.getItem(keyOf(name)) ?? example;
  } catch {
    // The browser may forbid storage.
    return example;
  }
}

export function keepCases(name: string, text: string): void {
  try {
    localStorage.setItem(keyOf(name), text);
  } catch {
    // The cases then last as long as the page.
  }
}

function keyOf(name: string): string {
  return `reeve.cases.${name}`;
}
