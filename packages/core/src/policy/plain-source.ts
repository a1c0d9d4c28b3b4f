import type { Pricing } from '../budget/index.ts';
import { modelGlob } from '../budget/index.ts';
import { SourceGlobs } from './host-glob.ts';
import type { CompileCondition, Condition, PolicyFeatures } from './condition.ts';
import type { PolicyDocument, PolicyRate, PolicyRule } from './document.ts';
import type { Glob } from '../kernel/index.ts';
import type { ParsedDocument, ParsedSource } from './parse-source.ts';
import { globDimensions } from './parse-rule.ts';
import { featuresFor } from './parse-source.ts';

type Globs = Partial<Record<(typeof globDimensions)[number], readonly string[]>>;

interface PlainRule extends Omit<PolicyRule, 'matchers' | 'when'> {
  readonly actions: PolicyRule['matchers']['actions'];
  readonly globs: Globs;
  readonly hasCondition: boolean;
}

interface PlainRate extends Omit<PolicyRate, 'tools'> {
  readonly globs?: readonly string[];
}

interface PlainDocument extends Omit<PolicyDocument, 'rules' | 'rates' | 'pricing'> {
  readonly rules: readonly PlainRule[];
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

function plainDocument({ rules, rates, pricing, ...document }: PolicyDocument): PlainDocument {
  return {
    ...document,
    ...(rates === undefined ? {} : { rates: rates.map(plainRate) }),
    rules: rules.map(({ matchers, when, ...rule }) => ({
      ...rule,
      actions: matchers.actions,
      globs: Object.fromEntries(
        globDimensions.flatMap((dimension) => {
          const globs = matchers[dimension];
          return globs === undefined ? [] : [[dimension, globs.map(({ source }) => source)]];
        }),
      ),
      hasCondition: when !== undefined,
    })),
    ...(pricing === undefined
      ? {}
      : {
          pricing: { ...pricing, prices: pricing.prices.map((price) => ({ ...price, model: price.model.source })) },
        }),
  };
}

function plainRate({ tools, ...rate }: PolicyRate): PlainRate {
  return tools === undefined ? rate : { ...rate, globs: tools.map(({ source }) => source) };
}

/**
 * Compiles the missing parts again: conditions and globs, which are known to be valid. There may be many, so it works
 * in steps, and the caller decides how many to take at a time.
 */
export function* reviveSource(
  { documents, ...source }: PlainSource,
  features: PolicyFeatures,
): Generator<undefined, ParsedSource> {
  const reviver = new Reviver(featuresFor(source.source, features).compileCondition);
  const revived: ParsedDocument[] = [];
  for (const each of documents) revived.push({ ...each, document: yield* reviver.document(each.document) });
  return { ...source, documents: revived };
}

class Reviver {
  readonly #compile: CompileCondition | undefined;
  readonly #compiled = new Map<string, Condition>();
  readonly #sharedGlobs = new SourceGlobs();

  constructor(compile: CompileCondition | undefined) {
    this.#compile = compile;
  }

  *document({ rules, rates, pricing, ...document }: PlainDocument): Generator<undefined, PolicyDocument> {
    const revived: PolicyRule[] = [];
    for (const rule of rules) revived.push(yield* this.#rule(rule));
    const counting: PolicyRate[] = [];
    for (const rate of rates ?? []) counting.push(yield* this.#rate(rate));
    const prices = pricing?.prices.map((price) => ({ ...price, model: modelGlob(price.model) }));
    return {
      ...document,
      rules: revived,
      ...(rates === undefined ? {} : { rates: counting }),
      ...(pricing === undefined || prices === undefined ? {} : { pricing: { ...pricing, prices } }),
    };
  }

  *#rate({ globs, ...rate }: PlainRate): Generator<undefined, PolicyRate> {
    return globs === undefined ? rate : { ...rate, tools: yield* this.#globs(globs, 'tools') };
  }

  *#rule({ actions, globs, hasCondition, ...rule }: PlainRule): Generator<undefined, PolicyRule> {
    const matchers: { -readonly [Dimension in keyof PolicyRule['matchers']]: PolicyRule['matchers'][Dimension] } = {};
    if (actions !== undefined) matchers.actions = actions;
    for (const dimension of globDimensions) {
      const sources = globs[dimension];
      if (sources !== undefined) matchers[dimension] = yield* this.#globs(sources, dimension);
    }
    const when = hasCondition ? this.#condition(rule.whenText ?? '') : undefined;
    yield;
    return { ...rule, matchers, ...(when === undefined ? {} : { when }) };
  }

  *#globs(sources: readonly string[], dimension: keyof Globs): Generator<undefined, Glob[]> {
    const globs: Glob[] = [];
    for (const [at, source] of sources.entries()) {
      globs.push(this.#sharedGlobs.compile(dimension, source));
      if (at % globsPerStep === globsPerStep - 1) yield;
    }
    return globs;
  }

  #condition(text: string): Condition | undefined {
    const known = this.#compiled.get(text) ?? this.#compile?.(text);
    if (known !== undefined) this.#compiled.set(text, known);
    return known;
  }
}

const globsPerStep = 20;
