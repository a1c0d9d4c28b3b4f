import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import { GlobError, messageOf } from '../kernel/index.ts';
import type { DetectorName } from '../masking/index.ts';
import { detectorNames, parseFieldPath, usualMask } from '../masking/index.ts';
import type { MaskTerms, RuleMask } from './document.ts';
import { offsetInText } from './offset-in-text.ts';
import type { SourceRules } from './source-rules.ts';
import type { Member, YamlReader } from './yaml-reader.ts';

export const maskKeys = ['detect', 'patterns', 'fields', 'with'] as const;

/** Every result that a rule matches is searched for each of them. */
export const maskBounds = { patterns: 50, fields: 200, characters: 1000 } as const;

/** Reads the `mask` of a rule, which one with the effect `mask` must have, and no other may. */
export function parseRuleMask(
  yaml: YamlReader,
  document: Document.Parsed,
  {
    node,
    effect,
    member,
  }: { readonly node: Node; readonly effect: string | undefined; readonly member?: Member | undefined },
  shared: SourceRules,
): RuleMask | undefined {
  if (member !== undefined && effect !== undefined && effect !== 'mask') {
    yaml.complain(member.nameNode, '"mask" belongs to rules with the effect "mask" only');
  }
  if (member === undefined && effect === 'mask') {
    yaml.complain(node, 'a rule with the effect "mask" needs a "mask" that says what it replaces');
  }
  return member === undefined ? undefined : parseMask(yaml, document, member, shared);
}

/** What a mask finds, and what it puts in its place. */
function parseMask(
  yaml: YamlReader,
  document: Document.Parsed,
  { nameNode, value }: Member,
  shared: SourceRules,
): RuleMask | undefined {
  const before = yaml.problems.length;
  const terms: { -readonly [Term in keyof MaskTerms]: MaskTerms[Term] } = {
    detect: [],
    patterns: [],
    fields: [],
    with: usualMask,
  };
  const members = yaml.members(document, value, '"mask"');
  for (const member of members ?? []) {
    if (member.name === 'detect') terms.detect = detectorsIn(yaml, document, member);
    else if (member.name === 'patterns') terms.patterns = patternsIn(yaml, document, member, shared);
    else if (member.name === 'fields') terms.fields = fieldsIn(yaml, document, member);
    else if (member.name === 'with') terms.with = replacementIn(yaml, member) ?? terms.with;
    else yaml.unknown(member, '"mask"', maskKeys);
  }
  if (members?.some(({ name }) => name === 'detect' || name === 'patterns' || name === 'fields') === false) {
    yaml.complain(nameNode, '"mask" must name what it replaces: "detect", "patterns" or "fields"');
  }
  return yaml.problems.length === before ? compiledMask(terms, shared) : undefined;
}

/** A mask whose terms are known to be valid. */
export function compiledMask(terms: MaskTerms, shared: SourceRules): RuleMask {
  const patterns = terms.patterns.map((source) => shared.pattern(source).find);
  return { terms, compiled: { ...terms, patterns, fields: terms.fields.map(parseFieldPath) } };
}

function detectorsIn(yaml: YamlReader, document: Document.Parsed, member: Member): readonly DetectorName[] {
  const found = listed(yaml, document, member, detectorNames.length).map((item) =>
    yaml.choice(item, 'a detector', detectorNames),
  );
  return [...new Set(found.filter((name) => name !== undefined))];
}

function patternsIn(
  yaml: YamlReader,
  document: Document.Parsed,
  member: Member,
  shared: SourceRules,
): readonly string[] {
  if (!shared.knowsPatterns) {
    yaml.complain(member.nameNode, '"patterns" is not available in this version of Reeve; remove it');
    return [];
  }
  return listed(yaml, document, member, maskBounds.patterns).flatMap((item) => {
    const source = textIn(yaml, item, 'a pattern');
    if (source === undefined) return [];
    try {
      shared.pattern(source);
      return [source];
    } catch (error) {
      yaml.complain(item, `bad pattern: ${messageOf(error)}`, offsetInText(item, error));
      return [];
    }
  });
}

function fieldsIn(yaml: YamlReader, document: Document.Parsed, member: Member): readonly string[] {
  return listed(yaml, document, member, maskBounds.fields).flatMap((item) => {
    const source = textIn(yaml, item, 'a path');
    if (source === undefined) return [];
    try {
      return [parseFieldPath(source).source];
    } catch (error) {
      if (!(error instanceof GlobError)) throw error;
      yaml.complain(item, `bad path "${source}": ${error.message}`, offsetInText(item, error));
      return [];
    }
  });
}

/** It may be empty: then what is found is left out. */
function replacementIn(yaml: YamlReader, { value }: Member): string | undefined {
  if (isScalar(value) && typeof value.value === 'string' && value.value.length <= maskBounds.characters) {
    return value.value;
  }
  yaml.complain(value, `"with" must be a text of at most ${maskBounds.characters} characters`);
  return undefined;
}

function textIn(yaml: YamlReader, node: Node, what: string): string | undefined {
  const text = yaml.text(node, what);
  if (text === undefined || text.length <= maskBounds.characters) return text;
  yaml.complain(node, `${what} has at most ${maskBounds.characters} characters`);
  return undefined;
}

function listed(yaml: YamlReader, document: Document.Parsed, { name, nameNode, value }: Member, most: number): Node[] {
  const items = yaml.items(document, value, `"${name}"`);
  if (items === undefined) return [];
  if (items.length === 0) yaml.complain(nameNode, `"${name}" must not be empty; leave it out if nothing is meant`);
  if (items.length > most) {
    yaml.complain(nameNode, `"${name}" holds at most ${most}`);
    return [];
  }
  return items;
}
