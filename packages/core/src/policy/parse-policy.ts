import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import type { ActionType } from '../decision/action.ts';
import { actionTypes } from '../decision/action.ts';
import { messageOf } from '../kernel/errors.ts';
import { isId } from '../tenancy/agent-id.ts';
import type { CompileCondition, Condition } from './condition.ts';
import { ConditionError } from './condition.ts';
import type { Effect, Matchers, PolicyDocument, PolicyProblem, PolicyRule, Scope } from './document.ts';
import type { Glob } from './glob.ts';
import { compileGlob, GlobError } from './glob.ts';
import { parseBudget, parsePricing } from './parse-budget.ts';
import { canConcern } from './rule-index.ts';
import type { Member } from './yaml-reader.ts';
import { YamlReader } from './yaml-reader.ts';

/** One YAML source, which may hold several documents. */
export interface PolicySource {
  /** How problems name it: a file's path. */
  readonly file: string;
  readonly text: string;
}

export interface PolicyFeatures {
  /** Compiles `when` expressions. Without it a rule that has one is refused rather than half enforced. */
  readonly compileCondition?: CompileCondition;
}

export interface ParsedPolicies {
  readonly documents: readonly PolicyDocument[];
  readonly problems: readonly PolicyProblem[];
}

const documentKeys = ['scope', 'name', 'default', 'rules', 'budget', 'pricing'] as const;
const globDimensions = ['tools', 'models', 'hosts', 'paths', 'commands'] as const;
const ruleKeys = ['name', 'effect', 'actions', ...globDimensions, 'when'] as const;

/** Reads all sources together: names are unique over all of them. */
export function parsePolicies(sources: readonly PolicySource[], features: PolicyFeatures = {}): ParsedPolicies {
  const documents: PolicyDocument[] = [];
  const problems: PolicyProblem[] = [];
  const names = new Set<string>();
  const taken = new Set<string>();
  for (const source of sources) {
    const parser = new PolicyParser(source, features, names, taken);
    documents.push(...parser.parse());
    problems.push(...parser.problems);
  }
  return { documents, problems };
}

class PolicyParser {
  readonly #yaml: YamlReader;
  readonly #file: string;
  readonly #features: PolicyFeatures;
  readonly #names: Set<string>;
  /** What one global document only may have, and one has. */
  readonly #taken: Set<string>;

  constructor(source: PolicySource, features: PolicyFeatures, names: Set<string>, taken: Set<string>) {
    this.#file = source.file;
    this.#yaml = new YamlReader(source.file, source.text);
    this.#features = features;
    this.#names = names;
    this.#taken = taken;
  }

  get problems(): readonly PolicyProblem[] {
    return this.#yaml.problems;
  }

  parse(): PolicyDocument[] {
    if (this.problems.length > 0) return [];
    return this.#yaml.documents
      .filter(({ contents }) => contents !== null && !(isScalar(contents) && contents.value === null))
      .map((document, index) => this.#document(document, index))
      .filter((document) => document !== undefined);
  }

  #document(yaml: Document.Parsed, index: number): PolicyDocument | undefined {
    const members = this.#yaml.members(yaml, yaml.contents ?? undefined, 'a policy document');
    if (members === undefined) return undefined;
    let scope: Scope = { tier: 'global' };
    let name = defaultName(this.#file, index);
    let nameNode: Node | undefined = yaml.contents ?? undefined;
    let fallback: { node: Node; value: 'allow' | 'deny' | undefined } | undefined;
    let rules: PolicyRule[] = [];
    let budget: Member | undefined;
    let pricing: Member | undefined;
    for (const member of members) {
      const { value } = member;
      switch (member.name) {
        case 'scope':
          scope = this.#scope(value) ?? scope;
          break;
        case 'name':
          name = this.#name(value, 'name') ?? name;
          nameNode = value;
          break;
        case 'default':
          fallback = { node: member.nameNode, value: this.#yaml.choice(value, '"default"', ['allow', 'deny']) };
          break;
        case 'rules':
          rules = this.#rules(yaml, value);
          break;
        case 'budget':
          budget = member;
          break;
        case 'pricing':
          pricing = member;
          break;
        default:
          this.#yaml.unknown(member, 'a policy document', documentKeys);
      }
    }
    if (this.#names.has(name)) this.#yaml.complain(nameNode, `a document named "${name}" exists already`);
    this.#names.add(name);
    if (fallback !== undefined && scope.tier !== 'global') {
      this.#yaml.complain(fallback.node, '"default" belongs to documents with the scope "global" only');
    }
    return {
      name,
      scope,
      rules,
      ...(fallback?.value === undefined ? {} : { default: fallback.value }),
      ...this.#money(yaml, scope, budget, pricing),
    };
  }

  /** Of global documents one at most has a budget, and one has prices: two would contradict each other. */
  #money(
    yaml: Document.Parsed,
    scope: Scope,
    budget: Member | undefined,
    pricing: Member | undefined,
  ): Pick<PolicyDocument, 'budget' | 'pricing'> {
    const isGlobal = scope.tier === 'global';
    for (const { name, nameNode } of [budget, pricing].filter((member) => member !== undefined)) {
      if (!isGlobal && name === 'pricing') {
        this.#yaml.complain(nameNode, '"pricing" belongs to documents with the scope "global" only');
      }
      if (isGlobal && this.#taken.has(name)) this.#yaml.complain(nameNode, `another global document has a "${name}"`);
      if (isGlobal) this.#taken.add(name);
    }
    const caps = budget === undefined ? undefined : parseBudget(this.#yaml, yaml, budget.value, scope);
    const prices = pricing === undefined ? undefined : parsePricing(this.#yaml, yaml, pricing.value);
    return { ...(caps === undefined ? {} : { budget: caps }), ...(prices === undefined ? {} : { pricing: prices }) };
  }

  #scope(node: Node | undefined): Scope | undefined {
    const text = this.#yaml.text(node, '"scope"');
    if (text === undefined) return undefined;
    const [tier = '', rest = ''] = splitOnce(text, ':');
    const ids = rest.split('/');
    const [orgId = '', teamId = '', agentId = ''] = ids;
    if (text === 'global') return { tier: 'global' };
    if (tier === 'org' && ids.length === 1 && isId(orgId)) return { tier, orgId };
    if (tier === 'team' && ids.length === 2 && ids.every(isId)) return { tier, orgId, teamId };
    if (tier === 'agent' && ids.length === 3 && isId(agentId) && [orgId, teamId].every((id) => id === '' || isId(id))) {
      return { tier, orgId, teamId, agentId };
    }
    this.#yaml.complain(
      node,
      '"scope" must be "global", "org:<org>", "team:<org>/<team>" or "agent:<org>/<team>/<agent>"',
    );
    return undefined;
  }

  #name(node: Node | undefined, what: string): string | undefined {
    const text = this.#yaml.text(node, `"${what}"`);
    if (text === undefined || isId(text)) return text;
    this.#yaml.complain(node, `"${what}" must be 1 to 128 letters, digits, ".", "_" or "-"`);
    return undefined;
  }

  #rules(yaml: Document.Parsed, node: Node | undefined): PolicyRule[] {
    const names = new Set<string>();
    return (this.#yaml.items(yaml, node, '"rules"') ?? [])
      .map((item, index) => this.#rule(yaml, item, index, names))
      .filter((rule) => rule !== undefined);
  }

  #rule(yaml: Document.Parsed, node: Node, index: number, names: Set<string>): PolicyRule | undefined {
    const members = this.#yaml.members(yaml, node, 'a rule');
    if (members === undefined) return undefined;
    const before = this.problems.length;
    let name = `rule-${index + 1}`;
    let nameNode: Node | undefined = node;
    let effect: Effect | undefined;
    let when: Condition | undefined;
    const matchers: { -readonly [Dimension in keyof Matchers]: Matchers[Dimension] } = {};
    for (const member of members) {
      const dimension = globDimensions.find((candidate) => candidate === member.name);
      if (dimension !== undefined) {
        matchers[dimension] = this.#globs(yaml, member, dimension === 'hosts');
      } else if (member.name === 'name') {
        name = this.#name(member.value, 'name') ?? name;
        nameNode = member.value;
      } else if (member.name === 'effect') {
        effect = this.#effect(member.value);
      } else if (member.name === 'actions') {
        matchers.actions = this.#actions(yaml, member);
      } else if (member.name === 'when') {
        when = this.#condition(member);
      } else {
        this.#yaml.unknown(member, 'a rule', ruleKeys);
      }
    }
    if (names.has(name)) this.#yaml.complain(nameNode, `a rule named "${name}" exists already in this document`);
    names.add(name);
    if (!members.some((member) => member.name === 'effect')) {
      this.#yaml.complain(node, 'a rule needs an "effect": "allow" or "deny"');
    }
    const sound = this.problems.length === before;
    if (sound && !actionTypes.some((type) => canConcern(matchers, type))) {
      this.#yaml.complain(node, 'this rule can never match: no action has all that its matchers ask for');
    }
    if (effect === undefined) return undefined;
    return { name, effect, matchers, ...(when === undefined ? {} : { when }) };
  }

  #effect(node: Node | undefined): Effect | undefined {
    if (isScalar(node) && node.value === 'require_approval') {
      this.#yaml.complain(node, '"require_approval" is not available in this version of Reeve; use "allow" or "deny"');
      return undefined;
    }
    return this.#yaml.choice(node, '"effect"', ['allow', 'deny']);
  }

  #actions(yaml: Document.Parsed, member: Member): ReadonlySet<ActionType> {
    const items = this.#nonEmpty(yaml, member);
    const found = items.map((item) => this.#yaml.choice(item, 'an action', actionTypes));
    return new Set(found.filter((type) => type !== undefined));
  }

  #globs(yaml: Document.Parsed, member: Member, ignoreCase: boolean): readonly Glob[] {
    return this.#nonEmpty(yaml, member)
      .map((item) => this.#glob(item, ignoreCase))
      .filter((glob) => glob !== undefined);
  }

  #glob(node: Node, ignoreCase: boolean): Glob | undefined {
    const text = this.#yaml.text(node, 'a glob');
    if (text === undefined) return undefined;
    try {
      return compileGlob(text, ignoreCase);
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      const quote = isScalar(node) && node.type?.startsWith('QUOTE') === true ? 1 : 0;
      this.#yaml.complain(node, `bad glob "${text}": ${error.message}`, quote + error.offset);
      return undefined;
    }
  }

  /** An empty list would match nothing and look as if it matched everything. */
  #nonEmpty(yaml: Document.Parsed, member: Member): Node[] {
    const items = this.#yaml.items(yaml, member.value, `"${member.name}"`);
    if (items?.length === 0) {
      this.#yaml.complain(member.nameNode, `"${member.name}" must not be empty; leave it out to match everything`);
    }
    return items ?? [];
  }

  #condition(member: Member): Condition | undefined {
    const { compileCondition } = this.#features;
    if (compileCondition === undefined) {
      this.#yaml.complain(member.nameNode, '"when" is not available in this version of Reeve; remove it');
      return undefined;
    }
    const text = this.#yaml.text(member.value, '"when"');
    if (text === undefined) return undefined;
    try {
      return compileCondition(text);
    } catch (error) {
      const quote = isScalar(member.value) && member.value.type?.startsWith('QUOTE') === true ? 1 : 0;
      const offset = error instanceof ConditionError && isOneLine(member.value) ? quote + error.offset : 0;
      this.#yaml.complain(member.value, `bad "when": ${messageOf(error)}`, offset);
      return undefined;
    }
  }
}

/** In a block, or with escapes, a place in the text is not the same place in the file. */
function isOneLine(node: Node | undefined): boolean {
  return isScalar(node) && typeof node.value === 'string' && node.source === node.value && !node.value.includes('\n');
}

/** `policies/starter.yaml` gives `starter`; its second document `starter-2`. */
function defaultName(file: string, index: number): string {
  const base = (file.split('/').at(-1) ?? '').replace(/\.ya?ml$/i, '').replaceAll(/[^A-Za-z0-9._-]/g, '-');
  const stem = isId(base) ? base : 'policy';
  return index === 0 ? stem : `${stem}-${index + 1}`;
}

function splitOnce(text: string, separator: string): readonly string[] {
  const at = text.indexOf(separator);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}
