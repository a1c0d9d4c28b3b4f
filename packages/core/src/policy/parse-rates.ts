import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import type { ActionType } from '../action/index.ts';
import { actionTypes } from '../action/index.ts';
import type { BudgetTier } from '../budget/index.ts';
import type { Glob } from '../kernel/index.ts';
import { GlobError } from '../kernel/index.ts';
import type { PolicyRate } from './document.ts';
import { whole } from './parse-approvals.ts';
import { canConcern } from './rule-index.ts';
import type { SourceRules } from './source-rules.ts';
import type { Member, YamlReader } from './yaml-reader.ts';

export const rateKeys = ['per', 'window_secs', 'max', 'actions', 'tools'] as const;
export const ratePers: readonly BudgetTier[] = ['agent', 'team', 'org', 'global'];
/** Bounds for the numbers of a rate. */
export const rateBounds = {
  window_secs: { least: 1, most: 86_400 },
  max: { least: 1, most: 1_000_000_000 },
} as const;
/** How many rates a document may have. */
export const mostRates = 20;

/** Reads the `rates` of a document. Each counts as a rule of its source. */
export function parseRates(
  yaml: YamlReader,
  document: Document.Parsed,
  node: Node | undefined,
  shared: SourceRules,
): readonly PolicyRate[] {
  const items = yaml.items(document, node, '"rates"') ?? [];
  if (items.length > mostRates || !shared.take(items.length)) {
    yaml.complain(node, `a document holds at most ${mostRates} rates, which count as rules of its source`);
    return [];
  }
  return items.map((item) => rateIn(yaml, document, item, shared)).filter((rate) => rate !== undefined);
}

function rateIn(yaml: YamlReader, document: Document.Parsed, node: Node, shared: SourceRules): PolicyRate | undefined {
  const members = yaml.members(document, node, 'a rate');
  if (members === undefined) return undefined;
  const before = yaml.problems.length;
  let per: BudgetTier | undefined;
  let windowSecs = 0;
  let max = 0;
  const matchers: { actions?: ReadonlySet<ActionType>; tools?: readonly Glob[] } = {};
  for (const member of members) {
    if (member.name === 'per') per = yaml.choice(member.value, '"per"', ratePers);
    else if (member.name === 'window_secs') windowSecs = whole(yaml, member, rateBounds.window_secs);
    else if (member.name === 'max') max = whole(yaml, member, rateBounds.max);
    else if (member.name === 'actions') matchers.actions = actionsIn(yaml, document, member);
    else if (member.name === 'tools') matchers.tools = globsIn(yaml, document, member, shared);
    else yaml.unknown(member, 'a rate', rateKeys);
  }
  const missing = (['per', 'window_secs', 'max'] as const).find((key) => !members.some(({ name }) => name === key));
  if (missing !== undefined) yaml.complain(node, `a rate needs "${missing}"`);
  if (yaml.problems.length > before || per === undefined) return undefined;
  if (!actionTypes.some((type) => canConcern(matchers, type))) {
    yaml.complain(node, 'this rate counts nothing: no action has all that its matchers ask for');
  }
  return { per, windowSecs, max, ...matchers };
}

function actionsIn(yaml: YamlReader, document: Document.Parsed, member: Member): ReadonlySet<ActionType> {
  const found = listed(yaml, document, member).map((item) => yaml.choice(item, 'an action', actionTypes));
  return new Set(found.filter((type) => type !== undefined));
}

function globsIn(yaml: YamlReader, document: Document.Parsed, member: Member, shared: SourceRules): readonly Glob[] {
  return listed(yaml, document, member)
    .map((item) => globIn(yaml, item, shared))
    .filter((glob) => glob !== undefined);
}

function globIn(yaml: YamlReader, node: Node, shared: SourceRules): Glob | undefined {
  const text = yaml.text(node, 'a glob');
  if (text === undefined) return undefined;
  try {
    return shared.glob('tools', text);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const quote = isScalar(node) && node.type?.startsWith('QUOTE') === true ? 1 : 0;
    yaml.complain(node, `bad glob "${text}": ${error.message}`, quote + error.offset);
    return undefined;
  }
}

/** An empty list would count nothing but look as if it counted everything. */
function listed(yaml: YamlReader, document: Document.Parsed, { name, nameNode, value }: Member): Node[] {
  const items = yaml.items(document, value, `"${name}"`);
  if (items?.length === 0) yaml.complain(nameNode, `"${name}" must not be empty; leave it out to count everything`);
  return items ?? [];
}

/** The name of a rate within its document: its index, which counts from 0 as in paths and pointers. */
export function rateName(index: number): string {
  return `rate-${index}`;
}

/** The rule whose name is that of a rate. Nobody could tell which of them decided. */
export function ruleNamedAsRate<Rule extends { readonly name: string }>(
  rules: readonly Rule[],
  rates: readonly PolicyRate[],
): Rule | undefined {
  const names = new Set(rates.map((_, index) => rateName(index)));
  return rules.find(({ name }) => names.has(name));
}
