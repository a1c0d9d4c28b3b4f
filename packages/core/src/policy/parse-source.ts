import type { Width } from '../access/index.ts';
import { isId } from '../kernel/index.ts';
import type { PolicyFeatures } from './condition.ts';
import type { PolicyDocument, PolicyMode, PolicyScope, PolicyPlace, PolicyProblem } from './document.ts';
import { authorOf, bindingOfName, shortName, policyModes, parseScope, scopeForms } from './document.ts';
import { parseBudget, parsePricing } from './parse-budget.ts';
import { parseRates, ruleNamedAsRate } from './parse-rates.ts';
import type { ParsedRules } from './parse-rule.ts';
import { parseName, parseRules } from './parse-rule.ts';
import { SourceRules } from './source-rules.ts';
import type { Member } from './yaml-reader.ts';
import { YamlReader } from './yaml-reader.ts';
import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';

export const documentKeys = [
  'scope',
  'name',
  'mode',
  'default',
  'hints',
  'rules',
  'rates',
  'budget',
  'pricing',
] as const;

/** Reads one source by itself. `problemsOf` finds its conflicts with others. */
export function parseSource(source: PolicySource, features: PolicyFeatures): ParsedSource {
  const yaml = new YamlReader(source.file, source.text);
  if (yaml.problems.length > 0) return { source, documents: [], problems: yaml.problems, instructions: 0 };
  const parser = new SourceParser(source, yaml, featuresFor(source, features));
  const documents = parser.parse();
  return { source, documents, problems: yaml.problems, instructions: parser.instructions };
}

/** What the author may use: conditions of a bound author cannot read global spend. */
export function featuresFor(source: PolicySource, features: PolicyFeatures): PolicyFeatures {
  const { compileCondition, compileResultCondition, compileValue } = features;
  if (authorOf(source) === 'unbound') return features;
  return {
    ...features,
    ...(compileCondition && { compileCondition: (text) => compileCondition(text, 'tenant') }),
    ...(compileResultCondition && { compileResultCondition: (text) => compileResultCondition(text, 'tenant') }),
    ...(compileValue && { compileValue: (text) => compileValue(text, 'tenant') }),
  };
}

class SourceParser {
  readonly #source: PolicySource;
  readonly #yaml: YamlReader;
  readonly #rules: SourceRules;

  constructor(source: PolicySource, yaml: YamlReader, features: PolicyFeatures) {
    this.#source = source;
    this.#yaml = yaml;
    this.#rules = new SourceRules(features);
  }

  get instructions(): number {
    return this.#rules.instructions;
  }

  parse(): ParsedDocument[] {
    const found = this.#yaml.documents.filter(
      ({ contents }) => contents !== null && !(isScalar(contents) && contents.value === null),
    );
    this.#requireOne(found);
    return found
      .map((yaml, index) => this.#document(yaml, index, found.length === 1))
      .filter((document) => document !== undefined);
  }

  #requireOne([first, second]: readonly Document.Parsed[]): void {
    if (this.#source.name === undefined) return;
    if (first === undefined) this.#yaml.complain(undefined, 'there is no policy document in this text');
    if (second === undefined) return;
    this.#yaml.complain(second.contents ?? undefined, 'a stored policy is one document; store each under its own name');
  }

  #document(yaml: Document.Parsed, index: number, isOnly: boolean): ParsedDocument | undefined {
    const members = this.#yaml.members(yaml, yaml.contents ?? undefined, 'a policy document');
    if (members === undefined) return undefined;
    let scope: PolicyScope = { tier: 'global' };
    let name = this.#source.name ?? `${this.#source.namespace ?? ''}${defaultName(this.#source.file, index)}`;
    let nameNode: Node | undefined = yaml.contents ?? undefined;
    let mode: { node: Node | undefined; value: PolicyMode | undefined } | undefined;
    let fallback: { node: Node; value: 'allow' | 'deny' | undefined } | undefined;
    let hints = true;
    let parsed: ParsedRules = { rules: [], resultRules: [], promptRules: [] };
    let rulesNode: Node | undefined;
    let rates: Member | undefined;
    const money: Partial<Record<'budget' | 'pricing', Member>> = {};
    for (const member of members) {
      const { value } = member;
      switch (member.name) {
        case 'scope':
          scope = this.#scope(value) ?? scope;
          break;
        case 'name':
          name = this.#name(value) ?? name;
          nameNode = value;
          break;
        case 'mode':
          mode = { node: member.nameNode, value: this.#yaml.choice(value, '"mode"', policyModes) };
          break;
        case 'default':
          fallback = { node: member.nameNode, value: this.#yaml.choice(value, '"default"', ['allow', 'deny']) };
          break;
        case 'hints':
          hints = this.#yaml.flag(value, '"hints"') ?? hints;
          break;
        case 'rules':
          parsed = parseRules(this.#yaml, yaml, value, this.#rules);
          rulesNode = member.nameNode;
          break;
        case 'rates':
          rates = member;
          break;
        case 'budget':
        case 'pricing':
          money[member.name] = member;
          break;
        default:
          this.#yaml.unknown(member, 'a policy document', documentKeys);
      }
    }
    if (fallback !== undefined && scope.tier !== 'global') {
      this.#yaml.complain(fallback.node, '"default" belongs to documents with the scope "global" only');
    }
    const isObserved = mode?.value === 'observe';
    const author = authorOf(this.#source);
    const document = {
      name,
      scope,
      ...(author === 'unbound' ? {} : { author }),
      rules: parsed.rules,
      ...this.#furtherRules(isObserved, parsed, rulesNode),
      ...(hints ? {} : { hints }),
      ...(isObserved ? { mode: 'observe' as const } : {}),
      ...(fallback?.value === undefined ? {} : { default: fallback.value }),
      ...this.#rates(yaml, isObserved, rates, [...parsed.rules, ...parsed.resultRules, ...parsed.promptRules]),
      ...this.#money(yaml, scope, isObserved, money),
    };
    const text = isOnly ? this.#source.text : textOf(this.#source.text, yaml);
    return { document, text, namedAt: this.#yaml.placeOf(nameNode), exclusive: this.#exclusive(scope, money) };
  }

  #furtherRules(
    isObserved: boolean,
    { resultRules, promptRules }: ParsedRules,
    node: Node | undefined,
  ): Pick<PolicyDocument, 'resultRules' | 'promptRules'> {
    if (isObserved && resultRules.length > 0) this.#yaml.complain(node, withoutEffect('on: result'));
    if (isObserved && promptRules.length > 0) this.#yaml.complain(node, withoutEffect('effect: mask'));
    return {
      ...(resultRules.length === 0 ? {} : { resultRules }),
      ...(promptRules.length === 0 ? {} : { promptRules }),
    };
  }

  #rates(
    yaml: Document.Parsed,
    isObserved: boolean,
    member: Member | undefined,
    rules: readonly { readonly name: string }[],
  ): Pick<PolicyDocument, 'rates'> {
    if (member === undefined) return {};
    if (isObserved) this.#yaml.complain(member.nameNode, withoutEffect('rates'));
    const rates = parseRates(this.#yaml, yaml, member.value, this.#rules);
    const rule = ruleNamedAsRate(rules, rates);
    if (rule !== undefined) {
      this.#yaml.complain(member.nameNode, `a rule is named "${rule.name}", as the rate in that place is; rename it`);
    }
    return rates.length === 0 ? {} : { rates };
  }

  #money(
    yaml: Document.Parsed,
    scope: PolicyScope,
    isObserved: boolean,
    { budget, pricing }: Partial<Record<'budget' | 'pricing', Member>>,
  ): Pick<PolicyDocument, 'budget' | 'pricing'> {
    if (pricing !== undefined && scope.tier !== 'global') {
      this.#yaml.complain(pricing.nameNode, '"pricing" belongs to documents with the scope "global" only');
    }
    for (const { name, nameNode } of isObserved ? [budget, pricing].filter((member) => member !== undefined) : []) {
      this.#yaml.complain(nameNode, withoutEffect(name));
    }
    const caps = budget === undefined ? undefined : parseBudget(this.#yaml, yaml, budget.value, scope);
    const prices = pricing === undefined ? undefined : parsePricing(this.#yaml, yaml, pricing.value);
    return { ...(caps === undefined ? {} : { budget: caps }), ...(prices === undefined ? {} : { pricing: prices }) };
  }

  /** At most one global document has a budget, and one has prices: two would contradict each other. */
  #exclusive(scope: PolicyScope, money: Partial<Record<'budget' | 'pricing', Member>>): ParsedDocument['exclusive'] {
    if (scope.tier !== 'global') return [];
    return (['budget', 'pricing'] as const).flatMap((key) => {
      const member = money[key];
      return member === undefined ? [] : [{ key, at: this.#yaml.placeOf(member.nameNode) }];
    });
  }

  /** The whole name. The author of a stored document may also write the short one. */
  #name(node: Node | undefined): string | undefined {
    const { name: stored, namespace = '' } = this.#source;
    const written = this.#yaml.text(node, '"name"');
    if (written === undefined) return undefined;
    if (stored !== undefined) {
      if (written === stored || written === shortName(stored)) return stored;
      this.#yaml.complain(
        node,
        `"name" must be "${shortName(stored)}", under which the document is stored, or be left out`,
      );
      return undefined;
    }
    if (namespace !== '' && written.startsWith(namespace) && bindingOfName(written) !== undefined) return written;
    const name = parseName(this.#yaml, node);
    return name === undefined ? undefined : `${namespace}${name}`;
  }

  #scope(node: Node | undefined): PolicyScope | undefined {
    const text = this.#yaml.text(node, '"scope"');
    if (text === undefined) return undefined;
    const scope = parseScope(text);
    if (scope === undefined) this.#yaml.complain(node, `"scope" must be ${scopeForms}`);
    return scope;
  }
}

function withoutEffect(name: string): string {
  return `"${name}" has no effect in a document that is only observed; enforce it or leave it out`;
}

/** The text of one document among several, without the separators. */
function textOf(source: string, { range }: Document.Parsed): string {
  return source.slice(range[0], range[1]).replace(/^---[^\S\n]*\n/, '');
}

/** `policies/starter.yaml` gives `starter`; its second document `starter-2`. */
function defaultName(file: string, index: number): string {
  const base = (file.split('/').at(-1) ?? '').replace(/\.ya?ml$/i, '').replaceAll(/[^A-Za-z0-9._-]/g, '-');
  const stem = isId(base) ? base : 'policy';
  return index === 0 ? stem : `${stem}-${index + 1}`;
}

/** One YAML source, which may hold several documents. */
export interface PolicySource {
  /** The name in problems: a file's path, or the name of a stored document. */
  readonly file: string;
  readonly text: string;
  /** The name of a stored document, which is the only one in its source. */
  readonly name?: string;
  /** The width of its author's credential; the operator's if absent. See `authorOf`. */
  readonly author?: Width;
  /** The prefix of its names, if a bound author may write short ones: `acme/` or `acme/search/`. */
  readonly namespace?: string;
}

/** A document, its text, and the places where conflicts with other documents are reported. */
export interface ParsedDocument {
  readonly document: PolicyDocument;
  readonly text: string;
  readonly namedAt: PolicyPlace;
  /** The parts that only one global document may have, and where they are. */
  readonly exclusive: readonly { readonly key: 'budget' | 'pricing'; readonly at: PolicyPlace }[];
}

/** A source, read by itself. */
export interface ParsedSource {
  readonly source: PolicySource;
  readonly documents: readonly ParsedDocument[];
  readonly problems: readonly PolicyProblem[];
  /** How many instructions the patterns of its conditions became. */
  readonly instructions: number;
}
