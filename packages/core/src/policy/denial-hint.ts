import { redactText } from '../audit/index.ts';
import type { ActionType } from '../action/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { containsAgent } from './document.ts';
import type { PolicyDocument, PolicyRule } from './document.ts';
import { canConcern } from './rule-index.ts';
import type { Dimension } from './subject.ts';

/** What refused: a rule, or the default, because no rule allows the action. */
export type Refuser = 'rule' | 'default';

/** A document with `hints: false` gives no hints: its refusals carry none, and no hint names its rules. */
function isOpen({ hints }: PolicyDocument): boolean {
  return hints !== false;
}

const longestHint = 160;
/** A hint has room for a few items. No more than this are looked at. */
const mostItems = 1000;

const leads: Readonly<Record<Refuser, string>> = {
  rule: '; allowed here unless denied',
  default: '; allowed here',
};

/**
 * What an agent may do instead of the denied action: what the `allow` rules of its own scopes name for this action
 * type. Hints say nothing about deny rules. Each hint is made on the first denial and then kept, because a set never
 * changes.
 */
export class DenialHints {
  readonly #documents: readonly PolicyDocument[];
  readonly #allowsByDefault: boolean;
  readonly #isDefaultOpen: boolean;
  /** Names of documents that give no hints. */
  readonly #silent: ReadonlySet<string>;
  readonly #made = new Map<string, string>();

  constructor(documents: readonly PolicyDocument[], fallback: 'allow' | 'deny') {
    const enforced = documents.filter(({ mode }) => mode !== 'observe');
    this.#documents = enforced.filter(isOpen);
    this.#silent = new Set(enforced.filter((document) => !isOpen(document)).map(({ name }) => name));
    this.#isDefaultOpen = enforced.every((document) => document.default === undefined || isOpen(document));
    this.#allowsByDefault = fallback === 'allow';
  }

  /** Whether the document of a rule, `<document>/<rule>`, gives no hints. */
  isSilent(rule: string): boolean {
    return this.#silent.size > 0 && this.#silent.has(rule.slice(0, rule.lastIndexOf('/')));
  }

  /** The end of the reason, or nothing. Agents with the same `scopes` fall under the same documents. */
  of(scopes: string, agent: AgentId, type: ActionType, refuser: Refuser): string {
    const key = `${type} ${refuser} ${scopes}`;
    const made = this.#made.get(key);
    if (made !== undefined) return made;
    const hint = this.#make(agent, type, refuser);
    this.#made.set(key, hint);
    return hint;
  }

  #make(agent: AgentId, type: ActionType, refuser: Refuser): string {
    if (refuser === 'default' && !this.#isDefaultOpen) return '';
    if (this.#allowsByDefault) return this.#isDefaultOpen ? '; allowed here: what no rule denies' : '';
    const allowing = this.#documents
      .filter(({ scope }) => containsAgent(scope, agent))
      .flatMap(({ rules }) => rules)
      .filter(({ effect, matchers }) => effect === 'allow' && canConcern(matchers, type));
    const items = firstItems(allowing);
    return items.length === 0 ? '' : redactText(within(`${leads[refuser]}: ${type} of `, items));
  }
}

/** Users are not named: who else may do it is none of the agent's business. */
const dimensions: readonly Exclude<Dimension, 'users'>[] = ['tools', 'models', 'paths', 'commands', 'hosts'];

/** Each item once, up to the number that is looked at. */
function firstItems(rules: readonly PolicyRule[]): string[] {
  const items = new Set<string>();
  for (const rule of rules) {
    for (const item of itemsOf(rule)) items.add(item);
    if (items.size >= mostItems) break;
  }
  return [...items].slice(0, mostItems);
}

/** What a rule allows, item by item: the globs of its first matcher, each with the other requirements. */
function itemsOf({ matchers, when }: PolicyRule): string[] {
  const [first, ...others] = dimensions.flatMap((dimension) => {
    const globs = matchers[dimension];
    return globs === undefined ? [] : [globs.slice(0, mostItems).map(({ source }) => source.slice(0, longestHint))];
  });
  const also = others
    .map((globs) => ` with ${globs.slice(0, longestHint).join(' or ')}`)
    .join('')
    .slice(0, longestHint);
  const some = matchers.users === undefined ? '' : ' for some users';
  const condition = when === undefined ? '' : ' under a condition';
  return (first ?? ['anything']).map((what) => `${what}${also}${some}${condition}`);
}

/** As many items as fit. How many there are besides helps nobody. */
function within(lead: string, items: readonly string[]): string {
  const room = longestHint - ', …'.length;
  let text = lead;
  for (const [index, item] of items.entries()) {
    const next = index === 0 ? `${lead}${item}` : `${text}, ${item}`;
    if (next.length > room) return index === 0 ? `${next.slice(0, room - 1)}…` : `${text}, …`;
    text = next;
  }
  return text;
}
