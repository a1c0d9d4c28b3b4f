import { GlobError, messageOf } from '../kernel/index.ts';
import { parseFieldPath } from '../masking/index.ts';
import type { Effect, Matchers, Rewriting } from './document.ts';
import { offsetInText } from './offset-in-text.ts';
import { canConcern } from './rule-index.ts';
import type { SourceRules } from './source-rules.ts';
import { mostRewritings } from './source-rules.ts';
import type { Member, YamlReader } from './yaml-reader.ts';
import type { Document } from 'yaml';

/** How many members one rule may rewrite. */
export const mostRewritten = 16;

/** Reads the `rewrite` of a rule: expressions by the paths of the members that they set. */
export function parseRewrite(
  yaml: YamlReader,
  document: Document.Parsed,
  { nameNode, value }: Member,
  rule: { readonly effect: Effect | undefined; readonly matchers: Matchers },
  shared: SourceRules,
): readonly Rewriting[] {
  if (!shared.knowsValues) {
    yaml.complain(nameNode, '"rewrite" is not available in this version of Reeve; remove it');
    return [];
  }
  const problem = misplaced(rule);
  if (problem !== undefined) yaml.complain(nameNode, problem);
  const members = yaml.members(document, value, '"rewrite"') ?? [];
  if (members.length === 0) yaml.complain(nameNode, '"rewrite" must name a member; leave it out to change nothing');
  if (members.length > mostRewritten) {
    yaml.complain(nameNode, `a rule rewrites at most ${mostRewritten} members; divide it`);
    return [];
  }
  if (!shared.takeRewritings(members.length)) {
    yaml.complain(nameNode, `the rules of one source rewrite at most ${mostRewritings} members; divide it`);
    return [];
  }
  return members.map((member) => parseRewriting(yaml, member, shared)).filter((each) => each !== undefined);
}

/** Only tool calls have arguments that can be passed on changed. */
function misplaced({ effect, matchers }: { readonly effect: Effect | undefined; readonly matchers: Matchers }) {
  if (effect !== undefined && effect !== 'allow') return '"rewrite" belongs to rules with the effect "allow" only';
  const { actions } = matchers;
  if (actions !== undefined && [...actions].some((type) => type !== 'tool_call')) {
    return '"rewrite" is for tool calls: "actions" must be [tool_call], or be left out';
  }
  return canConcern(matchers, 'tool_call') ? undefined : '"rewrite" is for tool calls, and this rule matches none';
}

function parseRewriting(yaml: YamlReader, { name, nameNode, value }: Member, shared: SourceRules) {
  const path = parsePath(yaml, name, nameNode);
  const text = yaml.text(value, `the value of "${name}"`);
  if (path === undefined || text === undefined) return undefined;
  try {
    return { source: name, path, text, value: shared.value(text) };
  } catch (error) {
    yaml.complain(value, `bad value of "${name}": ${messageOf(error)}`, offsetInText(value, error));
    return undefined;
  }
}

/** The names on the way to a member, in the language of paths that masks have. */
function parsePath(yaml: YamlReader, source: string, node: Member['nameNode']): readonly string[] | undefined {
  try {
    const { steps } = parseFieldPath(source);
    const names = steps.flatMap((step) => (typeof step === 'object' && 'literal' in step ? [step.literal] : []));
    if (names.length === steps.length) return names;
    yaml.complain(node, `bad path "${source}": it names one member; write a "*" in a name within quotes`);
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    yaml.complain(node, `bad path "${source}": ${error.message}`, offsetInText(node, error));
  }
  return undefined;
}
