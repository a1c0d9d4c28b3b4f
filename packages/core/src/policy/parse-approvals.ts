import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import type { Role } from '../access/index.ts';
import { plainEmail, roles } from '../access/index.ts';
import { compileGlob, GlobError } from '../kernel/index.ts';
import type { ApprovalTerms, ApproverTerms } from './document.ts';
import type { Member, YamlReader } from './yaml-reader.ts';

/** Bounds for the approval terms of a rule. */
export const approvalBounds = { count: { least: 1, most: 5 }, ttl_secs: { least: 1, most: 86_400 } } as const;
export const approvalKeys = ['count', 'ttl_secs', 'grants', 'self', 'by', 'not_user'] as const;
export const approverKeys = ['roles', 'emails'] as const;

/** Every open approval keeps them, so they are few and short. */
export const approverBounds = { emails: 50, characters: 254 } as const;

/** Reads the `approvals` of a rule: how many people, how long to wait for them, what they may grant, and who counts. */
export function parseApprovals(yaml: YamlReader, document: Document.Parsed, node: Node | undefined): ApprovalTerms {
  const terms: { -readonly [Term in keyof ApprovalTerms]: ApprovalTerms[Term] } = {};
  for (const each of yaml.members(document, node, '"approvals"') ?? []) {
    if (each.name === 'count') terms.count = whole(yaml, each, approvalBounds.count);
    else if (each.name === 'ttl_secs') terms.ttlSecs = whole(yaml, each, approvalBounds.ttl_secs);
    else if (each.name === 'grants') terms.grants = yaml.flag(each.value, '"grants"') ?? false;
    else if (each.name === 'self') terms.self = yaml.flag(each.value, '"self"') ?? false;
    else if (each.name === 'by') terms.by = approversIn(yaml, document, each);
    else if (each.name === 'not_user') terms.notUser = yaml.flag(each.value, '"not_user"') ?? true;
    else yaml.unknown(each, '"approvals"', approvalKeys);
  }
  return terms;
}

/** A whole number within bounds. */
export function whole(
  yaml: YamlReader,
  { name, value }: Pick<Member, 'name' | 'value'>,
  { least, most }: { readonly least: number; readonly most: number },
): number {
  const number = isScalar(value) ? value.value : undefined;
  if (typeof number === 'number' && Number.isInteger(number) && number >= least && number <= most) return number;
  yaml.complain(value, `"${name}" must be a whole number from ${least} to ${most}`);
  return least;
}

function approversIn(yaml: YamlReader, document: Document.Parsed, { nameNode, value }: Member): ApproverTerms {
  const terms: { roles?: readonly Role[]; emails?: readonly string[] } = {};
  for (const each of yaml.members(document, value, '"by"') ?? []) {
    const items = () => listed(yaml, document, each);
    if (each.name === 'roles') terms.roles = rolesIn(yaml, items());
    else if (each.name === 'emails') terms.emails = emailsIn(yaml, each, items());
    else yaml.unknown(each, '"by"', approverKeys);
  }
  if (terms.roles === undefined && terms.emails === undefined) {
    yaml.complain(nameNode, '"by" must name "roles" or "emails"; leave it out if everybody counts who may decide');
  }
  return terms;
}

/** Nobody would count for an empty list. */
function listed(yaml: YamlReader, document: Document.Parsed, { name, nameNode, value }: Member): Node[] {
  const items = yaml.items(document, value, `"${name}"`);
  if (items?.length === 0) yaml.complain(nameNode, `"${name}" must not be empty; leave it out if all of them count`);
  return items ?? [];
}

function rolesIn(yaml: YamlReader, items: readonly Node[]): readonly Role[] {
  const found = items.map((item) => yaml.choice(item, 'a role', roles));
  return [...new Set(found.filter((role) => role !== undefined))];
}

function emailsIn(yaml: YamlReader, { nameNode }: Member, items: readonly Node[]): readonly string[] {
  if (items.length > approverBounds.emails) {
    yaml.complain(nameNode, `"emails" holds at most ${approverBounds.emails} globs`);
    return [];
  }
  return items.map((item) => emailIn(yaml, item)).filter((glob) => glob !== undefined);
}

function emailIn(yaml: YamlReader, node: Node): string | undefined {
  const text = yaml.text(node, 'a glob of emails');
  if (text === undefined) return undefined;
  if (text.length > approverBounds.characters) {
    yaml.complain(node, `a glob of emails has at most ${approverBounds.characters} characters`);
    return undefined;
  }
  try {
    return compileGlob(plainEmail(text)).source;
  } catch (error) {
    if (!(error instanceof GlobError)) throw error;
    const quote = isScalar(node) && node.type?.startsWith('QUOTE') === true ? 1 : 0;
    yaml.complain(node, `bad glob "${text}": ${error.message}`, quote + error.offset);
    return undefined;
  }
}
