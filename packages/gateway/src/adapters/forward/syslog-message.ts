import type { Severity, StoredEntry } from '@reeve/core';
import { entryJson } from '@reeve/core';
import { factsOf } from './entry-facts.ts';
import { severityOf } from './severity.ts';

/** "log audit" of RFC 5424. */
const facility = 13;
const levels: Readonly<Record<Severity, number>> = { info: 6, warning: 4, error: 3 };
/** Reeve has no number of its own. This one is set aside for use without one (RFC 5612). */
const enterprise = 32_473;

/** An entry as a message of RFC 5424, with its length before it (RFC 6587, RFC 5425). */
export function syslogFrame(entry: StoredEntry, host: string): Buffer {
  const message = Buffer.from(syslogMessage(entry, host));
  return Buffer.concat([Buffer.from(`${message.length} `), message]);
}

function syslogMessage(entry: StoredEntry, host: string): string {
  const facts = factsOf(entry);
  const { event_type: type, lineage } = facts;
  const data = {
    seq: String(facts.seq),
    hash: entry.hash,
    event: type,
    org: lineage.org_id,
    team: lineage.team_id,
    agent: lineage.agent_id,
    decision: facts.decision,
    op: facts.op_id,
  };
  const params = Object.entries(data).flatMap(([name, value]) =>
    value === null || value === '' ? [] : [`${name}="${value.replaceAll(/["\\\]]/g, '\\$&')}"`],
  );
  const priority = facility * 8 + levels[severityOf(facts)];
  const head = `<${priority}>1 ${facts.at} ${headerText(host, 255)} reeve - ${headerText(type, 32)}`;
  return `${head} [reeve@${enterprise} ${params.join(' ')}] ${entryJson(entry)}`;
}

/** A field of the header: printable ASCII without spaces, or a dash for nothing. */
function headerText(text: string, longest: number): string {
  const kept = text.replaceAll(/[^\x21-\x7e]/g, '').slice(0, longest);
  return kept === '' ? '-' : kept;
}
