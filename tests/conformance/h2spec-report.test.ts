import { describe, expect, it } from 'vitest';
import type { Exception } from './h2spec-exceptions.ts';
import { exceptions } from './h2spec-exceptions.ts';
import { readH2specReport } from './h2spec-report.ts';
import { judgeH2spec } from './h2spec-verdict.ts';

const report = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="6.7. PING" package="http2/6.7" id="6.7" tests="3" skipped="1" failures="0" errors="1">
    <testcase package="http2/6.7" classname="Sends a PING frame" time="0.0003"></testcase>
    <testcase package="http2/6.7" classname="Sends a &#34;PING&#34; &amp; an ACK" time="0.0004">
      <error>GOAWAY Frame
Connection closed
Timeout</error>
    </testcase>
    <testcase package="http2/6.7" classname="Sends nothing" time="0.0001">
      <skipped></skipped>
    </testcase>
  </testsuite>
</testsuites>`;

describe('the report of h2spec', () => {
  it('gives each test its section, title and outcome', () => {
    expect(readH2specReport(report)).toEqual([
      { name: 'http2/6.7: Sends a PING frame', outcome: 'passed', detail: '' },
      {
        name: 'http2/6.7: Sends a "PING" & an ACK',
        outcome: 'failed',
        detail: 'GOAWAY Frame; Connection closed; Timeout',
      },
      { name: 'http2/6.7: Sends nothing', outcome: 'skipped', detail: '' },
    ]);
  });

  it('is refused when it holds no test', () => {
    expect(() => readH2specReport('<testsuites></testsuites>')).toThrow('holds no test');
  });
});

describe('the verdict', () => {
  const why = { rfc: 'an RFC', sentence: 'a rule', here: 'a test' };
  const failing: Exception = { test: 'a: b', requests: ['http'], outcome: 'failed', why };
  const passed = { name: 'a: b', outcome: 'passed', detail: '' } as const;
  const failed = { name: 'a: b', outcome: 'failed', detail: 'Timeout' } as const;
  const oks = (result: typeof passed | typeof failed, table: readonly Exception[]) =>
    judgeH2spec('http', [result], table).map(({ ok }) => ok);

  it('takes a pass that nobody doubted, and no other failure', () => {
    expect(oks(passed, [])).toEqual([true]);
    expect(oks(failed, [])).toEqual([false]);
    expect(judgeH2spec('http', [{ ...failed, outcome: 'skipped' }], [])).toMatchObject([{ ok: false }]);
  });

  it('takes a failure that the table expects, for that kind of request alone', () => {
    expect(oks(failed, [failing])).toEqual([true]);
    expect(judgeH2spec('grpc', [failed], [failing])).toMatchObject([{ ok: false }]);
  });

  it('takes no pass that the table denies, unless it says that the test passes sometimes', () => {
    expect(oks(passed, [failing])).toEqual([false]);
    expect(oks(passed, [{ ...failing, sometimesPasses: true }])).toEqual([true]);
  });

  it('finds a line of the table that names no test', () => {
    expect(oks(passed, [{ ...failing, test: 'no: such' }])).toEqual([true, false]);
  });
});

describe('the table of exceptions', () => {
  it('names a test at most once for each kind of request', () => {
    const lines = exceptions.flatMap(({ test, requests }) => requests.map((kind) => `${kind} ${test}`));
    expect(new Set(lines).size).toBe(lines.length);
  });
});
