/** Who bears a label. */
type Owner = 'run' | 'agent';

/** A rule that gives a label to whoever uses a tool. */
export interface Labelling {
  readonly tool: string;
  readonly effect: 'allow' | 'require_approval';
  readonly label: string;
  readonly of: Owner;
  /** Only where the rewritten arguments name this label. */
  readonly seen?: string;
}

export const labelling: readonly Labelling[] = [
  { tool: 'search', effect: 'allow', label: 'web', of: 'run' },
  { tool: 'write', effect: 'allow', label: 'secret', of: 'agent' },
  { tool: 'ask', effect: 'require_approval', label: 'asked', of: 'run' },
  { tool: 'edit', effect: 'allow', label: 'edited', of: 'run', seen: 'outside' },
];

/** Which tool is denied where a label is borne, or where the rewritten arguments name it. */
export const guarded = [
  { tool: 'send', label: 'web', by: 'run.labels' },
  { tool: 'fetch', label: 'secret', by: 'run.labels' },
  { tool: 'pay', label: 'asked', by: 'run.labels' },
  { tool: 'write', label: 'outside', by: 'run.labels' },
  { tool: 'search', label: 'known', by: 'run.labels' },
  { tool: 'edit', label: 'personal', by: 'args.seen' },
] as const;

/** The tools whose arguments get the labels of the run as one more member. No fact keeps a password. */
export const rewriting: ReadonlyMap<string, 'seen' | 'password'> = new Map([
  ['edit', 'seen'],
  ['ask', 'password'],
]);

/** A rule on what a tool brings back. Without a condition, it matches whatever that is. */
export interface ResultRule {
  readonly name: string;
  readonly tool: string;
  readonly effect: 'allow' | 'mask' | 'deny';
  readonly gives?: { readonly label: string; readonly of: Owner };
  /** A word of the result. */
  readonly says?: string;
  /** A label that is borne when the result is judged. */
  readonly borne?: string;
  /** A label that the rewritten arguments name. */
  readonly seen?: string;
}

export const resultRules: readonly ResultRule[] = [
  { name: 'withhold', tool: 'read', effect: 'deny', says: 'secret' },
  { name: 'mask', tool: 'read', effect: 'mask', says: 'people', gives: { label: 'personal', of: 'run' } },
  { name: 'read', tool: 'read', effect: 'allow', gives: { label: 'outside', of: 'run' } },
  { name: 'not-outside', tool: 'search', effect: 'deny', borne: 'outside' },
  { name: 'find', tool: 'search', effect: 'allow', says: 'ssn', gives: { label: 'known', of: 'agent' } },
  { name: 'not-web', tool: 'edit', effect: 'deny', seen: 'web' },
];

/** What tools bring back. No two are of the same length. What is dear is judged aside from decisions. */
export const results = [
  '{"found":0}',
  '"a secret"',
  '"a secret of cleo@people.example"',
  '{"mail":"ann@people.example"}',
  '{"mail":"bob@people.example","dear":1}',
  '["ssn"]',
  '["ssn","dear"]',
  'dear, no JSON',
] as const;

/** All these rules, as a policy has them. */
export function flowRules(): string {
  const calls = labelling.map(
    ({ tool, effect, label, of, seen }) =>
      `{ name: marks-${label}, effect: ${effect}, tools: [${tool}], labels: [${label}], labels_of: ${of}${when(seen, 'args.seen')} }`,
  );
  const denials = guarded.map(
    ({ tool, label, by }) => `{ name: no-${label}, effect: deny, tools: [${tool}]${when(label, by)} }`,
  );
  const rewritings = [...rewriting].map(
    ([tool, member]) => `{ name: tell-${tool}, effect: allow, tools: [${tool}], rewrite: { ${member}: run.labels } }`,
  );
  return [...calls, ...denials, ...rewritings, ...resultRules.map(textOfResultRule)]
    .map((rule) => `  - ${rule}\n`)
    .join('');
}

function when(name: string | undefined, list: string): string {
  return name === undefined ? '' : `, when: ${name} in ${list}`;
}

function textOfResultRule({ name, tool, effect, gives, says, borne, seen }: ResultRule): string {
  const mask = effect === 'mask' ? ', mask: { detect: [email] }' : '';
  const labels = gives === undefined ? '' : `, labels: [${gives.label}], labels_of: ${gives.of}`;
  const condition = `${when(says, 'result_text')}${when(borne, 'run.labels')}${when(seen, 'args.seen')}`;
  return `{ name: ${name}, on: result, effect: ${effect}, tools: [${tool}]${mask}${labels}${condition} }`;
}
