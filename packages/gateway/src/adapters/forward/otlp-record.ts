import type { Severity, StoredEntry } from '@reeve/core';
import { entryJson } from '@reeve/core';
import { factsOf } from './entry-facts.ts';
import { severityOf } from './severity.ts';

/** The numbers and names of the OpenTelemetry log data model. */
const severities: Readonly<Record<Severity, readonly [number: number, text: string]>> = {
  info: [9, 'INFO'],
  warning: [13, 'WARN'],
  error: [17, 'ERROR'],
};

type Attribute = {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
};

/** An audit entry as a log record of OTLP in JSON. The body is the entry as exports have it. */
export function otlpRecord(entry: StoredEntry): string {
  const facts = factsOf(entry);
  const { lineage, trace_id: traceId, span_id: spanId } = facts;
  const [severityNumber, severityText] = severities[severityOf(facts)];
  const nanos = `${Date.parse(facts.at)}000000`;
  return JSON.stringify({
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    severityNumber,
    severityText,
    eventName: `reeve.${facts.event_type}`,
    body: { stringValue: entryJson(entry) },
    attributes: [
      { key: 'reeve.seq', value: { intValue: String(facts.seq) } },
      ...texts({
        'reeve.hash': entry.hash,
        'reeve.event_type': facts.event_type,
        'reeve.org_id': lineage.org_id,
        'reeve.team_id': lineage.team_id,
        'reeve.agent_id': lineage.agent_id,
        'reeve.actor.kind': facts.actor.kind,
        'reeve.actor.id': facts.actor.id,
        'reeve.decision': facts.decision,
        'reeve.policy_rule': facts.policy_rule,
        'reeve.op_id': facts.op_id,
      }),
    ],
    // Agents may give ids in any form; OpenTelemetry has one.
    ...(isHex(traceId, 32) ? { traceId } : {}),
    ...(isHex(traceId, 32) && isHex(spanId, 16) ? { spanId } : {}),
  });
}

function texts(values: Readonly<Record<string, string | null>>): Attribute[] {
  return Object.entries(values).flatMap(([key, value]) =>
    value === null || value === '' ? [] : [{ key, value: { stringValue: value } }],
  );
}

function isHex(id: string | null, length: number): boolean {
  return id !== null && id.length === length && /^[0-9a-f]+$/.test(id) && /[^0]/.test(id);
}
