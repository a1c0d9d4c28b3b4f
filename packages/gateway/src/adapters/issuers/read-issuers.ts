import { dirname, resolve } from 'node:path';
import type { IssuerSettings, Member, PolicyProblem, SubjectIssuer } from '@reeve/core';
import { YamlReader } from '@reeve/core';
import type { Document, Node } from 'yaml';
import { isScalar } from 'yaml';
import { isSecureUrl } from '@reeve/contract/host-name';

/** An entry of a file of issuers, with the place of its keys in the file, for problems that show later. */
export interface ReadIssuer<Settings extends IssuerSettings> {
  readonly settings: Settings;
  readonly keysAt: Omit<PolicyProblem, 'message'>;
}

export interface ReadIssuers<Settings extends IssuerSettings> {
  readonly entries: readonly ReadIssuer<Settings>[];
  readonly problems: readonly PolicyProblem[];
}

/** What a kind of file has besides the issuer: the names of its members, and how they are read. */
export interface EntryForm<Settings extends IssuerSettings> {
  readonly members: readonly string[];
  /** Undefined, and a problem, if they are not right. */
  read(yaml: EntryYaml, issuer: IssuerSettings, members: ReadonlyMap<string, Member>): Settings | undefined;
}

export interface EntryYaml {
  readonly reader: YamlReader;
  readonly document: Document.Parsed;
  /** The entry as a whole. */
  readonly node: Node;
}

const issuerMembers = ['issuer', 'audience', 'jwks_uri', 'jwks_file'] as const;
const keysForm = 'must be an https:// URL, or http:// on loopback, without user name';

/** Reads a file that lists issuers. Every problem has its line and column. */
export function readIssuers<Settings extends IssuerSettings>(
  file: string,
  text: string,
  form: EntryForm<Settings>,
): ReadIssuers<Settings> {
  const reader = new YamlReader(file, text);
  const entries: ReadIssuer<Settings>[] = [];
  const [document, second] = reader.documents;
  if (reader.problems.length > 0) return { entries, problems: reader.problems };
  if (second !== undefined) reader.complain(second.contents ?? undefined, 'must be one document');
  if (document === undefined) reader.complain(undefined, 'a file of issuers must be a list');
  else {
    for (const node of reader.items(document, document.contents ?? undefined, 'a file of issuers') ?? []) {
      const entry = readEntry({ reader, document, node }, file, form);
      if (entry !== undefined) entries.push(entry);
    }
  }
  return { entries, problems: reader.problems };
}

function readEntry<Settings extends IssuerSettings>(
  yaml: EntryYaml,
  file: string,
  form: EntryForm<Settings>,
): ReadIssuer<Settings> | undefined {
  const { reader, document, node } = yaml;
  const known: readonly string[] = [...issuerMembers, ...form.members];
  const found = reader.members(document, node, 'an entry');
  if (found === undefined) return undefined;
  const members = new Map(found.map((member) => [member.name, member]));
  for (const member of found) if (!known.includes(member.name)) reader.unknown(member, 'an entry', known);
  const before = reader.problems.length;
  const issuer = reader.text((members.get('issuer') ?? { value: node }).value, '"issuer"');
  const audiences = readAudiences(yaml, members.get('audience'));
  const keys = readKeys(yaml, file, members);
  if (issuer === undefined || audiences === undefined || keys === undefined) return undefined;
  const settings = form.read(yaml, { issuer, audiences, ...keys.place }, members);
  if (settings === undefined || reader.problems.length > before) return undefined;
  return { settings, keysAt: reader.placeOf(keys.node) };
}

/** One audience, or a list of them. */
function readAudiences({ reader, document, node }: EntryYaml, member: Member | undefined): string[] | undefined {
  const value = member?.value;
  if (member === undefined || isScalar(value)) {
    const one = reader.text(value ?? node, '"audience"');
    return one === undefined ? undefined : [one];
  }
  const items = reader.items(document, value, '"audience"');
  if (items?.length === 0) reader.complain(value, '"audience" must name at least one');
  const texts = items?.map((item) => reader.text(item, 'an item of "audience"')) ?? [];
  const audiences = texts.filter((text) => text !== undefined);
  return audiences.length === 0 || audiences.length < texts.length ? undefined : audiences;
}

interface KeysRead {
  readonly node: Node | undefined;
  readonly place: Pick<IssuerSettings, 'jwksUri' | 'jwksFile'>;
}

/** Exactly one place. A file stands beside the one that names it, unless its path says otherwise. */
function readKeys(
  { reader, node }: EntryYaml,
  file: string,
  members: ReadonlyMap<string, Member>,
): KeysRead | undefined {
  const uri = members.get('jwks_uri');
  const path = members.get('jwks_file');
  if ((uri === undefined) === (path === undefined)) {
    reader.complain(uri?.nameNode ?? node, 'an entry must have either "jwks_uri" or "jwks_file"');
    return undefined;
  }
  const member = uri ?? path;
  const text = reader.text(member?.value, `"${member?.name}"`);
  if (text === undefined) return undefined;
  if (uri === undefined) return { node: member?.value, place: { jwksFile: resolve(dirname(file), text) } };
  const url = URL.parse(text);
  if (url === null || !isSecureUrl(url) || url.username !== '' || url.password !== '') {
    reader.complain(uri.value, `"jwks_uri" ${keysForm}`);
    return undefined;
  }
  return { node: uri.value, place: { jwksUri: url.href } };
}

const userMembers = ['email', 'groups'] as const;

/** The file of `SVC_SUBJECTS`: where users of an issuer have their email and their groups. */
export const subjectForm: EntryForm<SubjectIssuer> = {
  members: ['claims'],
  read({ reader, document }, issuer, members) {
    const claims = { email: 'email', groups: 'groups' };
    const given = members.get('claims');
    for (const member of given === undefined ? [] : (reader.members(document, given.value, '"claims"') ?? [])) {
      const name = userMembers.find((known) => known === member.name);
      if (name === undefined) reader.unknown(member, '"claims"', userMembers);
      else claims[name] = reader.text(member.value, `"${name}"`) ?? claims[name];
    }
    return { ...issuer, claims };
  },
};
