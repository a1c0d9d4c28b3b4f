import type { ActionType } from '../action/index.ts';
import { actionTypes } from '../action/index.ts';
import { messageOf, GlobError, isId } from '../kernel/index.ts';
import type { Glob } from '../kernel/index.ts';
import type { Effect, Matchers, PolicyRule, PromptRule, ResultRule, RuleLabels, RuleMask } from './document.ts';
import { callEffects, resultEffects } from './document.ts';
import { offsetInText } from './offset-in-text.ts';
import { parseApprovals } from './parse-approvals.ts';
import { parseLabels } from './parse-labels.ts';
import { parseRuleMask } from './parse-mask.ts';
import { parseRewrite } from './parse-rewrite.ts';
import { canConcern } from './rule-index.ts';
import type { SourceRules } from './source-rules.ts';
import { mostRules } from './source-rules.ts';
import type { Dimension } from './subject.ts';
import type { Member, YamlReader } from './yaml-reader.ts';
import { oneOf } from './yaml-reader.ts';
import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';

export const globDimensions = ['tools', 'models', 'hosts', 'paths', 'commands', 'users'] as const;
export const ruleKeys = [
  'name',
  'on',
  'effect',
  'actions',
  ...globDimensions,
  'when',
  'approvals',
  'mask',
  'labels',
  'labels_of',
  'rewrite',
] as const;

/** What rules may be about. */
export const ruleSubjects = ['call', 'result'] as const;

type RuleSubject = (typeof ruleSubjects)[number];

/** The rules of a document, by what they are about. */
export interface ParsedRules {
  readonly rules: readonly PolicyRule[];
  readonly resultRules: readonly ResultRule[];
  readonly promptRules: readonly PromptRule[];
}

type FoundRules = { readonly [Kind in keyof ParsedRules]: ParsedRules[Kind][number][] };

/** Reads the `rules` of a document. */
export function parseRules(
  yaml: YamlReader,
  document: Document.Parsed,
  node: Node | undefined,
  shared: SourceRules,
): ParsedRules {
  return new RuleParser(yaml, document, shared).parse(node);
}

/** The name of a document or of a rule. */
export function parseName(yaml: YamlReader, node: Node | undefined): string | undefined {
  const text = yaml.text(node, '"name"');
  if (text === undefined || isId(text)) return text;
  yaml.complain(node, '"name" must be 1 to 128 letters, digits, ".", "_" or "-"');
  return undefined;
}

/** A rule as it is written: its members by name, and what all rules have. */
interface WrittenRule {
  readonly node: Node;
  readonly name: string;
  readonly matchers: Matchers;
  readonly members: ReadonlyMap<string, Member>;
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

  parse(node: Node | undefined): ParsedRules {
    const items = this.#yaml.items(this.#document, node, '"rules"') ?? [];
    const found: FoundRules = { rules: [], resultRules: [], promptRules: [] };
    if (!this.#shared.take(items.length)) {
      this.#yaml.complain(node, `one source holds at most ${mostRules} rules, those of aliases included; divide it`);
      return found;
    }
    for (const [index, item] of items.entries()) this.#rule(item, index, found);
    return found;
  }

  #rule(node: Node, index: number, found: FoundRules): void {
    const members = this.#yaml.members(this.#document, node, 'a rule');
    if (members === undefined) return;
    const before = this.#yaml.problems.length;
    const byName = new Map(members.map((member) => [member.name, member]));
    const on = this.#subject(byName.get('on'));
    const written: WrittenRule = {
      node,
      name: this.#name(node, index, byName.get('name')),
      matchers: this.#matchers(members),
      members: byName,
    };
    if (on === 'call') this.#onCall(written, found);
    else {
      const rule = this.#resultRule(written);
      if (rule !== undefined) found.resultRules.push(rule);
    }
    const sound = this.#yaml.problems.length === before;
    if (sound && !actionTypes.some((type) => canConcern(written.matchers, type))) {
      this.#yaml.complain(node, 'this rule can never match: no action has all that its matchers ask for');
    }
  }

  #onCall(written: WrittenRule, found: FoundRules): void {
    const effect = this.#effect(written.node, written.members, callEffects);
    if (effect === 'mask') {
      const rule = this.#promptRule(written);
      if (rule !== undefined) found.promptRules.push(rule);
    } else {
      const rule = this.#callRule(written, effect);
      if (rule !== undefined) found.rules.push(rule);
    }
  }

  #promptRule({ node, name, matchers, members }: WrittenRule): PromptRule | undefined {
    const when = this.#condition(members.get('when'), 'call', (text) => this.#shared.condition(text));
    for (const key of notOfPrompts) {
      const member = members.get(key);
      if (member === undefined) continue;
      this.#yaml.complain(member.nameNode, `"${key}" belongs to no rule that masks prompts; write another rule for it`);
    }
    const { actions } = matchers;
    if (actions?.size !== 1 || !actions.has('llm_call')) {
      const why = 'on calls, the effect "mask" is for the prompts of model calls';
      this.#yaml.complain(node, `${why}: write "actions: [llm_call]", or "on: result" for what comes back`);
    }
    const mask = this.#mask(node, members, 'mask');
    return mask === undefined ? undefined : { name, effect: 'mask', matchers, ...when, mask };
  }

  #callRule({ node, name, matchers, members }: WrittenRule, effect: Effect | undefined): PolicyRule | undefined {
    const when = this.#condition(members.get('when'), 'call', (text) => this.#shared.condition(text));
    const approvals = members.get('approvals');
    const terms = approvals === undefined ? undefined : parseApprovals(this.#yaml, this.#document, approvals.value);
    if (approvals !== undefined && effect !== undefined && effect !== 'require_approval') {
      this.#yaml.complain(approvals.nameNode, '"approvals" belongs to rules with the effect "require_approval" only');
    }
    const rewrite = members.get('rewrite');
    const rewriting = rewrite && parseRewrite(this.#yaml, this.#document, rewrite, { effect, matchers }, this.#shared);
    const labels = this.#labels(members);
    this.#mask(node, members, effect);
    if (effect === undefined) return undefined;
    return {
      name,
      effect,
      matchers,
      ...when,
      ...(terms === undefined ? {} : { approvals: terms }),
      ...labels,
      ...(rewriting === undefined ? {} : { rewrite: rewriting }),
    };
  }

  #resultRule({ node, name, matchers, members }: WrittenRule): ResultRule | undefined {
    const effect = this.#effect(node, members, resultEffects);
    const when = this.#condition(members.get('when'), 'result', (text) => this.#shared.resultCondition(text));
    for (const key of ofCallsOnly) {
      const member = members.get(key);
      if (member !== undefined) {
        this.#yaml.complain(member.nameNode, `"${key}" belongs to rules on calls only, not to "on: result"`);
      }
    }
    const labels = this.#labels(members);
    const mask = this.#mask(node, members, effect);
    if (effect === undefined) return undefined;
    return { name, effect, matchers, ...when, ...(mask === undefined ? {} : { mask }), ...labels };
  }

  #mask(node: Node, members: WrittenRule['members'], effect: string | undefined): RuleMask | undefined {
    return parseRuleMask(this.#yaml, this.#document, { node, effect, member: members.get('mask') }, this.#shared);
  }

  #labels(members: WrittenRule['members']): { readonly labels?: RuleLabels } {
    const labels = parseLabels(this.#yaml, this.#document, members.get('labels'), members.get('labels_of'));
    return labels === undefined ? {} : { labels };
  }

  #subject(member: Member | undefined): RuleSubject {
    if (member === undefined) return 'call';
    return this.#yaml.choice(member.value, '"on"', ruleSubjects) ?? 'call';
  }

  #name(node: Node, index: number, member: Member | undefined): string {
    const usual = `rule-${index + 1}`;
    const name = member === undefined ? usual : (parseName(this.#yaml, member.value) ?? usual);
    if (this.#names.has(name)) {
      this.#yaml.complain(member?.value ?? node, `a rule named "${name}" exists already in this document`);
    }
    this.#names.add(name);
    return name;
  }

  #effect<Choice extends string>(
    node: Node,
    members: WrittenRule['members'],
    choices: readonly Choice[],
  ): Choice | undefined {
    const member = members.get('effect');
    if (member !== undefined) return this.#yaml.choice(member.value, '"effect"', choices);
    this.#yaml.complain(node, `a rule needs an "effect": ${oneOf(choices)}`);
    return undefined;
  }

  #matchers(members: readonly Member[]): Matchers {
    const matchers: { -readonly [Dimension in keyof Matchers]: Matchers[Dimension] } = {};
    for (const member of members) {
      const dimension = globDimensions.find((candidate) => candidate === member.name);
      if (dimension !== undefined) matchers[dimension] = this.#globs(member, dimension);
      else if (member.name === 'actions') matchers.actions = this.#actions(member);
      else if (!ruleKeys.some((key) => key === member.name)) this.#yaml.unknown(member, 'a rule', ruleKeys);
    }
    return matchers;
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

  #condition<Compiled>(
    member: Member | undefined,
    on: RuleSubject,
    compile: (text: string) => Compiled,
  ): { readonly when?: Compiled; readonly whenText?: string } {
    if (member === undefined) return {};
    if (!this.#shared.knowsConditions(on)) {
      this.#yaml.complain(member.nameNode, '"when" is not available in this version of Reeve; remove it');
      return {};
    }
    const text = this.#yaml.text(member.value, '"when"');
    if (text === undefined) return {};
    try {
      return { when: compile(text), whenText: text };
    } catch (error) {
      this.#yaml.complain(member.value, `bad "when": ${messageOf(error)}`, offsetInText(member.value, error));
      return {};
    }
  }
}

/** Members that say what becomes of a call. */
const ofCallsOnly = ['approvals', 'rewrite'] as const;
/** Whether a prompt is masked decides nothing, so nothing follows from it. */
const notOfPrompts = [...ofCallsOnly, 'labels', 'labels_of'] as const;
