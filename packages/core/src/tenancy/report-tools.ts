import { canonicalJson, draftOf, redactText } from '../audit/index.ts';
import type { AgentId } from '../kernel/index.ts';
import { checkLength, invalid, longest, mostBytesOfArguments, shortened, utf8Length } from '../kernel/index.ts';
import type { Agent } from './agent.ts';
import { actorOf } from './agent.ts';
import { authenticateAgent } from './identify.ts';
import type { Tenancy } from './tenancy.ts';

/** A tool that is not defined as when it was locked. */
export interface ChangedTool {
  readonly tool: string;
  /** SHA-256 of the definition that was locked; empty if the lock does not hold the tool. */
  readonly locked: string;
  /** SHA-256 of the definition now; empty if the server no longer has the tool. */
  readonly actual: string;
}

export interface ReportToolsRequest {
  readonly agentId: AgentId | undefined;
  readonly token: string;
  readonly source: string;
  readonly changed: readonly ChangedTool[];
}

const mostChanged = 1000;

/**
 * Records that tools of a server are not defined as when somebody locked them. A call has one entry, or several where
 * its list passes the bound of an entry. What the agent has reported of late is not recorded again.
 */
export function reportTools(gov: Tenancy, request: ReportToolsRequest): void {
  const { source } = request;
  const agent = authenticateAgent(gov, request.agentId, request.token);
  checkLength('tool_source', source, longest.name);
  if (request.changed.length === 0 || request.changed.length > mostChanged) {
    throw invalid('changed', `must be 1 to ${mostChanged} tools`);
  }
  const changed = new Map<string, ChangedTool>();
  for (const each of request.changed.map(checked)) {
    const report = gov.sha256(JSON.stringify([agent.key, source, each.tool, each.actual]));
    if (!changed.has(report) && !gov.reportedTools.has(report)) changed.set(report, each);
  }
  if (changed.size > 0) record(gov, agent, redactText(source), changed);
}

const sha256 = /^[0-9a-f]{64}$/;

function checked({ tool, locked, actual }: ChangedTool, at: number): ChangedTool {
  const member = `changed[${at}]`;
  if (tool === '') throw invalid(`${member}.tool_name`, 'must not be empty');
  checkLength(`${member}.tool_name`, tool, longest.name);
  for (const [name, digest] of Object.entries({ locked_sha256: locked, actual_sha256: actual })) {
    if (digest !== '' && !sha256.test(digest)) {
      throw invalid(`${member}.${name}`, 'must be 64 hexadecimal digits in lower case, or empty');
    }
  }
  // A tool that is neither locked nor listed has neither.
  if (locked === actual && locked !== '') throw invalid(`${member}.actual_sha256`, 'must differ from locked_sha256');
  return { tool, locked, actual };
}

function record(gov: Tenancy, agent: Agent, source: string, reported: ReadonlyMap<string, ChangedTool>): void {
  const changed = [...reported.values()];
  const at = gov.clock.now();
  for (const part of partsOf(changed)) {
    gov.journal.record(
      draftOf({
        at,
        eventType: 'ToolDefinitionChanged',
        lineage: agent.lineage,
        actor: actorOf(agent),
        reason: reasonOf(source, part),
        payload: canonicalJson({ changed: part, tool_source: source }),
      }),
    );
  }
  const tools = changed.slice(0, mostNamed).map(({ tool }) => redactText(tool));
  gov.journal.apply({
    type: 'audit_alert',
    at,
    agent: agent.record.id,
    alert: 'tool_definition_changed',
    details: { changed: changed.length, tool_names: tools, tool_source: source },
    reported: [...reported.keys()],
  });
}

type ChangedJson = Readonly<Record<'actual_sha256' | 'locked_sha256' | 'tool_name', string>>;

/** Room for the names of the members and for the source. */
const mostBytesOfList = mostBytesOfArguments - 6 * longest.name - 100;

/** The list in parts that fit into one entry each. */
function partsOf(changed: readonly ChangedTool[]): readonly (readonly ChangedJson[])[] {
  const parts: ChangedJson[][] = [];
  let left = 0;
  for (const { tool, locked, actual } of changed) {
    const item = { actual_sha256: actual, locked_sha256: locked, tool_name: redactText(tool) };
    const bytes = utf8Length(canonicalJson(item)) + 1;
    if (bytes > left) {
      parts.push([]);
      left = mostBytesOfList;
    }
    left -= bytes;
    parts.at(-1)?.push(item);
  }
  return parts;
}

const mostNamed = 10;
const longestQuote = 64;

function reasonOf(source: string, changed: readonly ChangedJson[]): string {
  const names = changed.slice(0, mostNamed).map(({ tool_name: name }) => shortened(name, longestQuote));
  const more = changed.length - names.length;
  const tools = `${names.join(', ')}${more === 0 ? '' : ` and ${more} more`}`;
  return `tools of "${shortened(source, longestQuote)}" are not defined as when they were locked: ${tools}`;
}
