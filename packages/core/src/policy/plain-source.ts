import type { Pricing } from '../budget/index.ts';
import { modelGlob } from '../budget/index.ts';
import type { PolicyFeatures } from './condition.ts';
import type { MaskTerms, Matchers, PolicyDocument, PolicyRate, PolicyRule } from './document.ts';
import type { PromptRule, ResultRule, Rewriting } from './document.ts';
import { compiledMask } from './parse-mask.ts';
import { SourceRules } from './source-rules.ts';
import type { Glob } from '../kernel/index.ts';
import type { ParsedDocument, ParsedSource } from './parse-source.ts';
import { globDimensions } from './parse-rule.ts';
import { featuresFor } from './parse-source.ts';

type Globs = Partial<Record<(typeof globDimensions)[number], readonly string[]>>;

/** Matchers as plain data, and whether there is a condition. */
interface PlainMatchers {
  readonly actions: Matchers['actions'];
  readonly globs: Globs;
  readonly hasCondition: boolean;
}

type PlainRule = Omit<PolicyRule, 'matchers' | 'when' | 'rewrite'> &
  PlainMatchers & { readonly rewrite?: readonly Omit<Rewriting, 'value'>[] };

type PlainResultRule = Omit<ResultRule, 'matchers' | 'when' | 'mask'> &
  PlainMatchers & { readonly maskTerms?: MaskTerms };

type PlainPromptRule = Omit<PromptRule, 'matchers' | 'when' | 'mask'> &
  PlainMatchers & { readonly maskTerms: MaskTerms };

interface PlainRate extends Omit<PolicyRate, 'tools'> {
  readonly globs?: readonly string[];
}

interface PlainDocument extends Omit<PolicyDocument, 'rules' | 'resultRules' | 'promptRules' | 'rates' | 'pricing'> {
  readonly rules: readonly PlainRule[];
  readonly resultRules?: readonly PlainResultRule[];
  readonly promptRules?: readonly PlainPromptRule[];
  readonly rates?: readonly PlainRate[];
  readonly pricing?: Omit<Pricing, 'prices'> & {
    readonly prices: readonly (Omit<Pricing['prices'][number], 'model'> & { readonly model: string })[];
  };
}

/** A parsed source as plain data, without its compiled parts, so that it can travel between threads. */
export interface PlainSource extends Omit<ParsedSource, 'documents'> {
  readonly documents: readonly (Omit<ParsedDocument, 'document'> & { readonly document: PlainDocument })[];
}

export function plainSource({ documents, ...source }: ParsedSource): PlainSource {
  return { ...source, documents: documents.map((each) => ({ ...each, document: plainDocument(each.document) })) };
}

function plainDocument(given: PolicyDocument): PlainDocument {
  const { rules, resultRules, promptRules, rates, pricing, ...document } = given;
  return {
    ...document,
    ...(rates === undefined ? {} : { rates: rates.map(plainRate) }),
    rules: rules.map(plainRule),
    ...(resultRules === undefined ? {} : { resultRules: resultRules.map(plainResultRule) }),
    ...(promptRules === undefined ? {} : { promptRules: promptRules.map(plainPromptRule) }),
    ...(pricing === undefined
      ? {}
      : {
          pricing: { ...pricing, prices: pricing.prices.map((price) => ({ ...price, model: price.model.source })) },
        }),
  };
}

function plainRule({ matchers, when, rewrite, ...rule }: PolicyRule): PlainRule {
  const plain = { ...rule, ...plainMatchers(matchers, when) };
  if (rewrite === undefined) return plain;
  return { ...plain, rewrite: rewrite.map(({ source, path, text }) => ({ source, path, text })) };
}

function plainResultRule({ matchers, when, mask, ...rule }: ResultRule): PlainResultRule {
  const plain = { ...rule, ...plainMatchers(matchers, when) };
  return mask === undefined ? plain : { ...plain, maskTerms: mask.terms };
}

function plainPromptRule({ matchers, when, mask, ...rule }: PromptRule): PlainPromptRule {
  return { ...rule, ...plainMatchers(matchers, when), maskTerms: mask.terms };
}

function plainMatchers(matchers: Matchers, when: unknown): PlainMatchers {
  return {
    actions: matchers.actions,
    globs: Object.fromEntries(
      globDimensions.flatMap((dimension) => {
        const globs = matchers[dimension];
        return globs === undefined ? [] : [[dimension, globs.map(({ source }) => source)]];
      }),
    ),
    hasCondition: when !== undefined,
  };
}

function plainRate({ tools, ...rate }: PolicyRate): PlainRate {
  return tools === undefined ? rate : { ...rate, globs: tools.map(({ source }) => source) };
}

/**
 * Compiles the missing parts again: conditions, globs and masks, which are known to be valid. There may be many, so it
 * works in steps, and the caller decides how many to take at a time.
 */
export function* reviveSource(
  { documents, ...source }: PlainSource,
  features: PolicyFeatures,
): Generator<undefined, ParsedSource> {
  const reviver = new Reviver(featuresFor(source.source, features));
  const revived: ParsedDocument[] = [];
  for (const each of documents) revived.push({ ...each, document: yield* reviver.document(each.document) });
  return { ...source, documents: revived };
}

class Reviver {
  readonly #shared: SourceRules;

  constructor(features: PolicyFeatures) {
    this.#shared = new SourceRules({ ...features, mostInstructions: Number.POSITIVE_INFINITY });
  }

  *document(plain: PlainDocument): Generator<undefined, PolicyDocument> {
    const { rules, resultRules, promptRules, rates, pricing, ...document } = plain;
    const revived: PolicyRule[] = [];
    for (const rule of rules) revived.push(yield* this.#rule(rule));
    const onResults: ResultRule[] = [];
    for (const rule of resultRules ?? []) onResults.push(yield* this.#resultRule(rule));
    const onPrompts: PromptRule[] = [];
    for (const rule of promptRules ?? []) onPrompts.push(yield* this.#promptRule(rule));
    const counting: PolicyRate[] = [];
    for (const rate of rates ?? []) counting.push(yield* this.#rate(rate));
    const prices = pricing?.prices.map((price) => ({ ...price, model: modelGlob(price.model) }));
    return {
      ...document,
      rules: revived,
      ...(resultRules === undefined ? {} : { resultRules: onResults }),
      ...(promptRules === undefined ? {} : { promptRules: onPrompts }),
      ...(rates === undefined ? {} : { rates: counting }),
      ...(pricing === undefined || prices === undefined ? {} : { pricing: { ...pricing, prices } }),
    };
  }

  *#rate({ globs, ...rate }: PlainRate): Generator<undefined, PolicyRate> {
    return globs === undefined ? rate : { ...rate, tools: yield* this.#globs(globs, 'tools') };
  }

  *#rule({ actions, globs, hasCondition, rewrite, ...rule }: PlainRule): Generator<undefined, PolicyRule> {
    const matchers = yield* this.#matchers(actions, globs);
    const when = hasCondition ? { when: this.#shared.condition(rule.whenText ?? '') } : {};
    yield;
    const rewriting: Rewriting[] = [];
    for (const each of rewrite ?? []) {
      rewriting.push({ ...each, value: this.#shared.value(each.text) });
      yield;
    }
    return { ...rule, matchers, ...when, ...(rewrite === undefined ? {} : { rewrite: rewriting }) };
  }

  *#resultRule({
    actions,
    globs,
    hasCondition,
    maskTerms,
    ...rule
  }: PlainResultRule): Generator<undefined, ResultRule> {
    const matchers = yield* this.#matchers(actions, globs);
    const when = hasCondition ? { when: this.#shared.resultCondition(rule.whenText ?? '') } : {};
    yield;
    const mask = maskTerms === undefined ? {} : { mask: compiledMask(maskTerms, this.#shared) };
    return { ...rule, matchers, ...when, ...mask };
  }

  *#promptRule(plain: PlainPromptRule): Generator<undefined, PromptRule> {
    const { actions, globs, hasCondition, maskTerms, ...rule } = plain;
    const matchers = yield* this.#matchers(actions, globs);
    const when = hasCondition ? { when: this.#shared.condition(rule.whenText ?? '') } : {};
    yield;
    return { ...rule, matchers, ...when, mask: compiledMask(maskTerms, this.#shared) };
  }

  *#matchers(actions: Matchers['actions'], globs: Globs): Generator<undefined, Matchers> {
    const matchers: { -readonly [Dimension in keyof Matchers]: Matchers[Dimension] } = {};
    if (actions !== undefined) matchers.actions = actions;
    for (const dimension of globDimensions) {
      const sources = globs[dimension];
      if (sources !== undefined) matchers[dimension] = yield* this.#globs(sources, dimension);
    }
    return matchers;
  }

  *#globs(sources: readonly string[], dimension: keyof Globs): Generator<undefined, Glob[]> {
    const globs: Glob[] = [];
    for (const [at, source] of sources.entries()) {
      globs.push(this.#shared.glob(dimension, source));
      if (at % globsPerStep === globsPerStep - 1) yield;
    }
    return globs;
  }
}

const globsPerStep = 20;
