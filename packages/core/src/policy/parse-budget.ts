import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import type { ActionOnExceed, Price, Pricing, UnknownPrice, BudgetTier } from '../budget/index.ts';
import type { Micros } from '../kernel/index.ts';
import { microsOfUsd, mostMicros, mostPriceMicros, usdOfMicros, GlobError } from '../kernel/index.ts';
import { Calendar, modelGlob } from '../budget/index.ts';
import type { PolicyScope, DocumentBudget } from './document.ts';
import type { YamlReader } from './yaml-reader.ts';

const own = { daily_limit_usd: 'day', monthly_limit_usd: 'month' } as const;
const tenants = ['org', 'team', 'agent'] as const;
const uniform = tenants.flatMap((tier) => Object.keys(own).map((key) => `${tier}_${key}`));
export const ownCapKeys = Object.keys(own);
export const capKeys = [...ownCapKeys, ...uniform];
export const actionsOnExceed: readonly ActionOnExceed[] = ['deny', 'require_approval'];
export const unknownPrices: readonly UnknownPrice[] = ['deny', 'zero', 'worst'];
const globalKeys = [...capKeys, 'timezone', 'action_on_exceed'];

/** Reads the `budget` of a document. */
export function parseBudget(
  yaml: YamlReader,
  document: Document.Parsed,
  node: Node | undefined,
  scope: PolicyScope,
): DocumentBudget | undefined {
  const members = yaml.members(document, node, '"budget"');
  if (members === undefined) return undefined;
  const isGlobal = scope.tier === 'global';
  const caps: { [Tier in BudgetTier]?: { day?: Micros; month?: Micros } } = {};
  let timeZone: string | undefined;
  let actionOnExceed: DocumentBudget['actionOnExceed'];
  for (const { name, nameNode, value } of members) {
    const cap = capOf(name, scope);
    if (cap !== undefined) {
      const limit = amount(yaml, value, `"${name}"`);
      if (limit !== undefined) caps[cap.tier] = { ...caps[cap.tier], [cap.period]: limit };
    } else if (!isGlobal && globalKeys.includes(name)) {
      yaml.complain(nameNode, `"${name}" belongs to the budget of a document with the scope "global" only`);
    } else if (name === 'timezone') {
      timeZone = zone(yaml, value);
    } else if (name === 'action_on_exceed') {
      actionOnExceed = yaml.choice(value, '"action_on_exceed"', actionsOnExceed);
    } else {
      yaml.unknown({ name, nameNode, value }, '"budget"', isGlobal ? globalKeys : ownCapKeys);
    }
  }
  return {
    caps,
    ...(timeZone === undefined ? {} : { timeZone }),
    ...(actionOnExceed === undefined ? {} : { actionOnExceed }),
  };
}

/** The cap that a key sets. In a scoped document, plain keys set the caps of its tenant. */
function capOf(name: string, scope: PolicyScope): { tier: BudgetTier; period: 'day' | 'month' } | undefined {
  const plain = Object.entries(own).find(([key]) => key === name);
  if (plain !== undefined) return { tier: scope.tier, period: plain[1] };
  if (scope.tier !== 'global') return undefined;
  for (const tier of tenants) {
    const found = Object.entries(own).find(([key]) => `${tier}_${key}` === name);
    if (found !== undefined) return { tier, period: found[1] };
  }
  return undefined;
}

function zone(yaml: YamlReader, node: Node | undefined): string | undefined {
  const text = yaml.text(node, '"timezone"');
  if (text === undefined) return undefined;
  try {
    return new Calendar(text).timeZone;
  } catch {
    yaml.complain(node, `"timezone" must be a name of the IANA database such as "Europe/Berlin", not "${text}"`);
    return undefined;
  }
}

function amount(yaml: YamlReader, node: Node | undefined, what: string, most = mostMicros): Micros | undefined {
  const value = isScalar(node) ? node.value : undefined;
  const micros = typeof value === 'number' ? microsOfUsd(value) : undefined;
  if (micros !== undefined && micros <= most) return micros;
  yaml.complain(node, `${what} must be a number of US dollars from 0 to ${usdOfMicros(most)}`);
  return undefined;
}

/** What every price has. */
export const priceKeys = ['input_per_mtok_usd', 'output_per_mtok_usd'] as const;
export const cachedPriceKey = 'cached_input_per_mtok_usd';
const allPriceKeys = [...priceKeys, cachedPriceKey] as const;

/** Reads the `pricing` of a document: prices by glob of the model, and what to assume for models without one. */
export function parsePricing(yaml: YamlReader, document: Document.Parsed, node: Node | undefined): Pricing | undefined {
  const members = yaml.members(document, node, '"pricing"');
  if (members === undefined) return undefined;
  const prices: Price[] = [];
  let unknownPrice: UnknownPrice = 'zero';
  for (const { name, nameNode, value } of members) {
    if (name === 'unknown_price') {
      unknownPrice = yaml.choice(value, '"unknown_price"', unknownPrices) ?? unknownPrice;
      continue;
    }
    const price = priceOf(yaml, document, name, nameNode, value);
    if (price !== undefined) prices.push(price);
  }
  return { prices, unknownPrice };
}

function priceOf(
  yaml: YamlReader,
  document: Document.Parsed,
  model: string,
  nameNode: Node,
  node: Node | undefined,
): Price | undefined {
  const members = yaml.members(document, node, `the price of "${model}"`);
  if (members === undefined) return undefined;
  const found: Partial<Record<(typeof allPriceKeys)[number], Micros>> = {};
  for (const member of members) {
    const key = allPriceKeys.find((candidate) => candidate === member.name);
    if (key === undefined) yaml.unknown(member, `the price of "${model}"`, allPriceKeys);
    else found[key] = amount(yaml, member.value, `"${key}"`, mostPriceMicros) ?? 0;
  }
  const missing = priceKeys.find((key) => found[key] === undefined);
  if (missing !== undefined) yaml.complain(nameNode, `the price of "${model}" needs "${missing}"`);
  try {
    const { input_per_mtok_usd: inputPerMtok = 0, output_per_mtok_usd: outputPerMtok = 0 } = found;
    const cachedInputPerMtok = found[cachedPriceKey] ?? inputPerMtok;
    return { model: modelGlob(model), inputPerMtok, outputPerMtok, cachedInputPerMtok };
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    yaml.complain(nameNode, `bad glob "${model}": ${error.message}`);
    return undefined;
  }
}
