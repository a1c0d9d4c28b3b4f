import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { FileSink } from './file-sink.ts';
import { mendLastLine } from './mend-last-line.ts';
import { otlpRecord } from './otlp-record.ts';
import { retryAfterMs } from './post.ts';
import { syslogFrame } from './syslog-message.ts';

const hash = 'a'.repeat(64);

function entry(members: object = {}) {
  const content = {
    actor: { id: 'bot', kind: 'agent', label: '' },
    at: '2026-11-16T10:00:00.123Z',
    decision: 'deny',
    event_type: 'ActionDenied',
    lineage: { agent_id: 'bot', org_id: 'acme', team_id: '' },
    op_id: 't"]\\:s',
    policy_rule: null,
    reason: 'zu groß',
    seq: 7,
    span_id: '00f067aa0ba902b7',
    trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    ...members,
  };
  return { seq: 7, hash, canonical: JSON.stringify(content) };
}

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'reeve-formats-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test('a syslog message counts its octets, escapes its data and ends with the entry', () => {
  const frame = syslogFrame(entry(), 'höst name');
  const [, length = '', message = ''] = /^(\d+) (.*)$/s.exec(frame.toString()) ?? [];
  expect(Buffer.byteLength(message)).toBe(Number(length));
  expect(message).toMatch(/^<108>1 2026-11-16T10:00:00\.123Z hstname reeve - ActionDenied \[reeve@32473 seq="7" /);
  expect(message).toContain(' org="acme" agent="bot" decision="deny" op="t\\"\\]\\\\:s"] {"actor"');
  expect(JSON.parse(message.slice(message.indexOf('] {') + 2))).toMatchObject({ reason: 'zu groß', hash });
  expect(syslogFrame(entry({ event_type: 'A2AImpersonationAttempted' }), 'h').toString()).toContain(' <107>1 ');
  expect(syslogFrame(entry({ decision: 'allow', event_type: 'X' }), '').toString()).toMatch(/^\d+ <110>1 \S+ - reeve/);
});

test('a record of OTLP has time, severity, body and attributes, and ids only in the form that OTLP has', () => {
  const record = JSON.parse(otlpRecord(entry())) as Record<string, unknown>;
  expect(record).toMatchObject({
    timeUnixNano: '1794823200123000000',
    severityNumber: 13,
    severityText: 'WARN',
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    body: { stringValue: expect.stringContaining(`"hash":"${hash}"`) },
  });
  expect(record['attributes']).toContainEqual({ key: 'reeve.seq', value: { intValue: '7' } });
  expect(record['attributes']).toContainEqual({ key: 'reeve.org_id', value: { stringValue: 'acme' } });
  const other = JSON.parse(otlpRecord(entry({ trace_id: 'my-trace', decision: null }))) as Record<string, unknown>;
  expect([other['traceId'], other['spanId'], other['severityText']]).toEqual([undefined, undefined, 'INFO']);
});

test('an entry that was damaged in the store is forwarded as it is', () => {
  const damaged = { seq: 7, hash, canonical: '{"actor":"bro' };
  expect(syslogFrame(damaged, 'h').toString()).toMatch(/ reeve - - \[reeve@32473 seq="7" hash="a+"\] \{"actor":"br,/);
  const { body } = JSON.parse(otlpRecord(damaged)) as { body: { stringValue: string } };
  expect(body.stringValue).toMatch(/^\{"actor":"br,"hash":"a+"\}$/);
});

test.each([
  ['', ''],
  ['{"actor":1}\n', '{"actor":1}\n'],
  ['{"actor":1}\n{"actor":{"id', '{"actor":1}\n'],
  ['{"act', ''],
  [`{"actor":1}\n{"actor":"${'x'.repeat(200_000)}`, '{"actor":1}\n'],
  ['of somebody else', 'of somebody else\n'],
])('of a file only half an entry of our own is removed', async (before, after) => {
  const path = join(folder, 'mended');
  writeFileSync(path, before);
  const file = await open(path, 'a+');
  await mendLastLine(file, before.length);
  await file.close();
  expect(readFileSync(path, 'utf8')).toBe(after);
});

test('a file gets lines of its own, also after it was torn, and is reopened on demand', async () => {
  const path = join(folder, 'file');
  const sink = new FileSink(path);
  await sink.send([entry()]);
  await sink.reset();
  appendFileSync(path, '{"actor":{');
  await sink.send([entry()]);
  const lines = readFileSync(path, 'utf8').split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[0]).toBe(lines[1]);
  rmSync(path);
  sink.reopen();
  await sink.send([entry()]);
  expect(readFileSync(path, 'utf8')).toBe(`${lines[0]}\n`);
  await sink.reset();
  await expect(new FileSink(folder).send([entry()])).rejects.toThrow('EISDIR');
});

test('a receiver may ask for time in seconds or by a date', () => {
  const now = Date.parse('2026-11-16T10:00:00Z');
  expect(retryAfterMs('3', now)).toBe(3000);
  expect(retryAfterMs('Mon, 16 Nov 2026 10:00:05 GMT', now)).toBe(5000);
  expect(retryAfterMs('Mon, 16 Nov 2026 09:00:00 GMT', now)).toBe(0);
  for (const text of [undefined, '', 'soon', '-1', '9'.repeat(20)]) expect(retryAfterMs(text, now)).toBe(0);
});
