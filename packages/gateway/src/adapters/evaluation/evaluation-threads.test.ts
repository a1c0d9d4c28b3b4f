import type { PolicyVersion } from '@reeve/core';
import { afterEach, expect, test } from 'vitest';
import { EvaluationThreads } from './evaluation-threads.ts';

/** Takes much longer to read than the deadline. */
const long = `scope: org:acme\nrules: [${Array.from({ length: 5000 }, (_, at) => `{name: r${at}, effect: deny}`).join()}]`;
const savedBy = { kind: 'system', id: '' } as never;
const saved: PolicyVersion = {
  name: 'acme/a',
  version: 1,
  source: long,
  scope: 'org:acme',
  savedAt: 0,
  savedBy,
  note: '',
  width: 'org',
};
const gov = {
  mostActionMicros: 1,
  approvals: { settings: { ttlMs: 1 } },
  policies: { version: 'v' },
  policyRegistry: { sources: { files: [], stored: new Map([['acme/a', { saved, parsed: undefined }]]) } },
} as never;

let threads: EvaluationThreads | undefined;
afterEach(() => threads?.close());

function attempt(orgs: readonly string[] | null): Promise<unknown> {
  threads = new EvaluationThreads(gov, { threads: 1, deadlineMs: 1, idleMs: 1000, onEnded: () => {} });
  const source = { file: 'x', text: long };
  const input = () => ({ source, accepted: false });
  return threads.run({ tenant: 'acme', orgs, kind: 'read', input, hasDeadline: true });
}

test('a job that takes too long is too expensive', async () => {
  await expect(attempt(null)).rejects.toMatchObject({ code: 'too_expensive' });
});

test('reading what is stored before a job is not, as the caller has not sent it', async () => {
  await expect(attempt(['acme'])).rejects.toMatchObject({ code: 'overloaded', facts: { retry_after_secs: 1 } });
});
