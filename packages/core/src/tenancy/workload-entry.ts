import type { IssuerSettings } from '../access/index.ts';
import type { AgentId, CaptureGlob, Captures } from '../kernel/index.ts';
import { claimAt, claimPath, claimText, compileCaptureGlob, GlobError, isId } from '../kernel/index.ts';

type Claims = Readonly<Record<string, unknown>>;

/** A claim that must match. */
export interface ClaimMatch {
  /** The claim as the entry names it. */
  readonly claim: string;
  readonly path: readonly string[];
  readonly glob: CaptureGlob;
}

/** A text with holes: what was captured, or a claim. */
type TemplatePart = { readonly text: string } | { readonly capture: string } | { readonly path: readonly string[] };

/** The names of an agent, org and team first. An org or team that is empty by itself has no parts. */
export type AgentTemplate = readonly [readonly TemplatePart[], readonly TemplatePart[], readonly TemplatePart[]];

/** Which tokens of an issuer count as the credential of which agent. */
export interface WorkloadIssuer extends IssuerSettings {
  readonly match: readonly ClaimMatch[];
  readonly agent: AgentTemplate;
  /** Whether an agent that is not known is registered when it first calls. */
  readonly registers: boolean;
}

export function parseClaimMatch(claim: string, glob: string): ClaimMatch {
  const path = claimPath(claim);
  if (path === undefined) throw new GlobError(`"${claim}" names no claim`, 0);
  return { claim, path, glob: compileCaptureGlob(glob) };
}

/** What an id may hold, wherever it stands in it. */
const withinId = /^[A-Za-z0-9._-]+$/;

/** Reads `ORG/TEAM/AGENT`, where `-` is an empty org or team and braces are holes. */
export function parseAgentTemplate(source: string, captures: readonly string[]): AgentTemplate {
  const names: TemplatePart[][] = [[]];
  for (const [found] of source.matchAll(/\{[^{}]*\}|\/|[^{}/]+|[{}]/gu)) {
    if (found === '/') names.push([]);
    else names.at(-1)?.push(found.startsWith('{') && found.endsWith('}') ? holeOf(found, captures) : plainOf(found));
  }
  const [org, team, agent, ...rest] = names.map((parts) => (isDash(parts) ? [] : parts));
  const isWhole = names.every((parts) => parts.length > 0) && (agent?.length ?? 0) > 0 && rest.length === 0;
  if (org === undefined || team === undefined || agent === undefined || !isWhole) {
    throw new GlobError('must be ORG/TEAM/AGENT, with "-" for an empty org or team', 0);
  }
  return [org, team, agent];
}

function holeOf(found: string, captures: readonly string[]): TemplatePart {
  const name = found.slice(1, -1);
  if (captures.includes(name)) return { capture: name };
  const path = claimPath(name);
  if (path === undefined) throw new GlobError(`"${found}" names no claim`, 0);
  return { path };
}

function plainOf(text: string): TemplatePart {
  if (withinId.test(text)) return { text };
  throw new GlobError(`"${text}" holds what an id does not permit`, 0);
}

function isDash([first, second]: readonly TemplatePart[]): boolean {
  return second === undefined && first !== undefined && 'text' in first && first.text === '-';
}

/** The agent that an entry makes of claims, or why it makes none. */
export type WorkloadMatch =
  | { readonly ok: true; readonly agentId: AgentId }
  | { readonly ok: false; readonly why: string };

export function matchWorkload({ match, agent }: WorkloadIssuer, claims: Claims): WorkloadMatch {
  const captures = new Map<string, string>();
  for (const { claim, path, glob } of match) {
    const value = claimAt(claims, path);
    if (value === undefined) return no(`it has no claim "${claim}"`);
    const found = capturesIn(glob, value);
    if (found === undefined) return no(`its claim "${claim}" does not match`);
    for (const [name, text] of found) captures.set(name, text);
  }
  const [orgId, teamId, agentId] = agent.map((parts) => filled(parts, claims, captures));
  const ids = [orgId, teamId, agentId];
  const isWhole = ids.every((id, index) => (agent[index]?.length === 0 ? id === '' : id !== undefined && isId(id)));
  if (!isWhole || orgId === undefined || teamId === undefined || agentId === undefined) {
    return no('what it makes of the agent is no id');
  }
  return { ok: true, agentId: { orgId, teamId, agentId } };
}

function no(why: string): WorkloadMatch {
  return { ok: false, why };
}

/** Of a list, one text must match, and no two differently. */
function capturesIn(glob: CaptureGlob, value: unknown): Captures | undefined {
  let found: Captures | undefined;
  for (const item of Array.isArray(value) ? value : [value]) {
    const text = claimText(item);
    const captures = text === undefined ? undefined : glob.match(text);
    if (captures === undefined) continue;
    if (found !== undefined && [...captures].some(([name, taken]) => found?.get(name) !== taken)) return undefined;
    found = captures;
  }
  return found;
}

/** Undefined if something is missing, empty or nothing that may stand in an id. */
function filled(parts: readonly TemplatePart[], claims: Claims, captures: Captures): string | undefined {
  let text = '';
  for (const part of parts) {
    const next = textOf(part, claims, captures);
    if (next === undefined || !withinId.test(next)) return undefined;
    text += next;
  }
  return text;
}

function textOf(part: TemplatePart, claims: Claims, captures: Captures): string | undefined {
  if ('text' in part) return part.text;
  return 'capture' in part ? captures.get(part.capture) : claimText(claimAt(claims, part.path));
}
