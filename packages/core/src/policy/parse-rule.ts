import type { ActionType } from '../action/index.ts';
import { actionTypes } from '../action/index.ts';
import { messageOf, GlobError, isId } from '../kernel/index.ts';
import type { Glob } from '../kernel/index.ts';
import type { Condition, CompileCondition, PolicyFeatures } from './condition.ts';
import { ConditionError } from './condition.ts';
import type { ApprovalTerms, Effect, Matchers, PolicyRule } from './document.ts';
import { effects } from './document.ts';
import { SourceGlobs } from './host-glob.ts';
import { parseApprovals } from './parse-approvals.ts';
import { canConcern } from './rule-index.ts';
import type { Dimension } from './subject.ts';
import type { Member, YamlReader } from './yaml-reader.ts';
import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';

export const globDimensions = ['tools', 'models', 'hosts', 'paths', 'commands', 'users'] as const;
export const ruleKeys = ['name', 'effect', 'actions', ...globDimensions, 'when', 'approvals'] as const;

/** Reads the `rules` of a document. */
export function parseRules(
  yaml: YamlReader,
  document: Document.Parsed,
  node: Node | undefined,
  shared: SourceRules,
): PolicyRule[] {
  return new RuleParser(yaml, document, shared).parse(node);
}

/** The name of a document or of a rule. */
export function parseName(yaml: YamlReader, node: Node | undefined): string | undefined {
  const text = yaml.text(node, '"name"');
  if (text === undefined || isId(text)) return text;
  yaml.complain(node, '"name" must be 1 to 128 letters, digits, ".", "_" or "-"');
  return undefined;
}

class RuleParser {
  readonly #yaml: YamlReader;
  readonly #document: Document.Parsed;
  readonly #shared: SourceRules;
  readonly #names = new Set<string>();

  constructor(yaml: YamlReader, document: Document.Parsed, shared: SourceRules) {
    this.#yaml = yaml;
    this.#document = document;
    this.#shared = shared;
  }

  parse(node: Node | undefined): PolicyRule[] {
    const items = this.#yaml.items(this.#document, node, '"rules"') ?? [];
    if (!this.#shared.take(items.length)) {
      this.#yaml.complain(node, `one source holds at most ${mostRules} rules, those of aliases included; divide it`);
      return [];
    }
    return items.map((item, index) => this.#rule(item, index)).filter((rule) => rule !== undefined);
  }

  #rule(node: Node, index: number): PolicyRule | undefined {
    const members = this.#yaml.members(this.#document, node, 'a rule');
    if (members === undefined) return undefined;
    const before = this.#yaml.problems.length;
    let name = `rule-${index + 1}`;
    let nameNode: Node | undefined = node;
    let effect: Effect | undefined;
    let when: Condition | undefined;
    let whenText: string | undefined;
    let approvals: { readonly nameNode: Node; readonly terms: ApprovalTerms } | undefined;
    const matchers: { -readonly [Dimension in keyof Matchers]: Matchers[Dimension] } = {};
    for (const member of members) {
      const dimension = globDimensions.find((candidate) => candidate === member.name);
      if (dimension !== undefined) {
        matchers[dimension] = this.#globs(member, dimension);
      } else if (member.name === 'name') {
        name = parseName(this.#yaml, member.value) ?? name;
        nameNode = member.value;
      } else if (member.name === 'effect') {
        effect = this.#yaml.choice(member.value, '"effect"', effects);
      } else if (member.name === 'actions') {
        matchers.actions = this.#actions(member);
      } else if (member.name === 'when') {
        when = this.#condition(member);
        whenText = isScalar(member.value) ? String(member.value.value) : undefined;
      } else if (member.name === 'approvals') {
        approvals = { nameNode: member.nameNode, terms: parseApprovals(this.#yaml, this.#document, member.value) };
      } else {
        this.#yaml.unknown(member, 'a rule', ruleKeys);
      }
    }
    if (this.#names.has(name)) this.#yaml.complain(nameNode, `a rule named "${name}" exists already in this document`);
    this.#names.add(name);
    if (!members.some((member) => member.name === 'effect')) {
      this.#yaml.complain(node, 'a rule needs an "effect": "allow", "deny" or "require_approval"');
    }
    if (approvals !== undefined && effect !== undefined && effect !== 'require_approval') {
      this.#yaml.complain(approvals.nameNode, '"approvals" belongs to rules with the effect "require_approval" only');
    }
    const sound = this.#yaml.problems.length === before;
    if (sound && !actionTypes.some((type) => canConcern(matchers, type))) {
      this.#yaml.complain(node, 'this rule can never match: no action has all that its matchers ask for');
    }
    if (effect === undefined) return undefined;
    return {
      name,
      effect,
      matchers,
      ...(when === undefined ? {} : { when }),
      ...(whenText === undefined ? {} : { whenText }),
      ...(approvals === undefined ? {} : { approvals: approvals.terms }),
    };
  }

  #actions(member: Member): ReadonlySet<ActionType> {
    const items = this.#nonEmpty(member);
    const found = items.map((item) => this.#yaml.choice(item, 'an action', actionTypes));
    return new Set(found.filter((type) => type !== undefined));
  }

  #globs(member: Member, dimension: Dimension): readonly Glob[] {
    return this.#nonEmpty(member)
      .map((item) => this.#glob(item, dimension))
      .filter((glob) => glob !== undefined);
  }

  #glob(node: Node, dimension: Dimension): Glob | undefined {
    const text = this.#yaml.text(node, 'a glob');
    if (text === undefined) return undefined;
    try {
      return this.#shared.glob(dimension, text);
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      const quote = isScalar(node) && node.type?.startsWith('QUOTE') === true ? 1 : 0;
      this.#yaml.complain(node, `bad glob "${text}": ${error.message}`, quote + error.offset);
      return undefined;
    }
  }

  /** An empty list would match nothing but look as if it matched everything. */
  #nonEmpty(member: Member): Node[] {
    const items = this.#yaml.items(this.#document, member.value, `"${member.name}"`);
    if (items?.length === 0) {
      this.#yaml.complain(member.nameNode, `"${member.name}" must not be empty; leave it out to match everything`);
    }
    return items ?? [];
  }

  #condition(member: Member): Condition | undefined {
    if (!this.#shared.knowsConditions) {
      this.#yaml.complain(member.nameNode, '"when" is not available in this version of Reeve; remove it');
      return undefined;
    }
    const text = this.#yaml.text(member.value, '"when"');
    if (text === undefined) return undefined;
    try {
      return this.#shared.compile(text);
    } catch (error) {
      const quote = isScalar(member.value) && member.value.type?.startsWith('QUOTE') === true ? 1 : 0;
      const offset = error instanceof ConditionError && isOneLine(member.value) ? quote + error.offset : 0;
      this.#yaml.complain(member.value, `bad "when": ${messageOf(error)}`, offset);
      return undefined;
    }
  }
}

/** In a block, or with escapes, an offset in the text differs from the offset in the file. */
function isOneLine(node: Node | undefined): boolean {
  return isScalar(node) && typeof node.value === 'string' && node.source === node.value && !node.value.includes('\n');
}

/** How many rules one source may hold, in all of its documents. A rule repeated by an alias counts each time. */
export const mostRules = 2000;

/**
 * How many instructions all patterns of one source may become. A pattern of a few characters may become 2,000, which
 * stay in memory as long as the source is in force.
 */
export const mostInstructions = 100_000;

/** What the rules of one source share, across its documents. */
export class SourceRules {
  readonly #compile: CompileCondition | undefined;
  readonly #compiled = new Map<string, () => Condition>();
  readonly #globs = new SourceGlobs();
  readonly #mostInstructions: number;
  #left: number;
  #instructions = 0;

  constructor(features: PolicyFeatures) {
    this.#compile = features.compileCondition;
    this.#left = features.mostRules ?? mostRules;
    this.#mostInstructions = features.mostInstructions ?? mostInstructions;
  }

  get knowsConditions(): boolean {
    return this.#compile !== undefined;
  }

  /** How many instructions the patterns of all conditions became. */
  get instructions(): number {
    return this.#instructions;
  }

  /** Counts rules, and returns whether so many are allowed. */
  take(rules: number): boolean {
    this.#left -= rules;
    return this.#left >= 0;
  }

  glob(dimension: Dimension, text: string): Glob {
    return this.#globs.compile(dimension, text);
  }

  /** The same text is compiled once, and fails in the same way each time. */
  compile(text: string): Condition | undefined {
    const known = this.#compiled.get(text) ?? this.#attempt(text);
    this.#compiled.set(text, known);
    return known();
  }

  #attempt(text: string): () => Condition {
    try {
      const made = this.#compile?.(text);
      if (made === undefined) throw new Error('conditions are not known here');
      this.#count(made);
      return () => made;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  }

  #count({ instructions = 0 }: Condition): void {
    if (this.#instructions + instructions > this.#mostInstructions) {
      const why = `the patterns of one source become at most ${this.#mostInstructions} instructions together`;
      throw new ConditionError(`${why}; count fewer repetitions in them, or divide the source`, 0);
    }
    this.#instructions += instructions;
  }
}
