import type { PolicyVersion } from '@reeve/core';
import { describe, expect, test } from 'vitest';
import { PolicyTransfer } from './policy-transfer.ts';

function version(name: string, scope: string, source = 'rules: []'): PolicyVersion {
  const savedBy = { kind: 'system', id: '' } as never;
  return { name, version: 1, source, scope, savedAt: 0, savedBy, note: '', width: 'org' };
}

const all = [version('base', 'global'), version('acme/a', 'org:acme'), version('globex/a', 'team:globex/core')];

const files: never[] = [];

function sourcesOf(versions: readonly PolicyVersion[]) {
  return { files, stored: new Map(versions.map((saved) => [saved.name, { saved, parsed: undefined }])) };
}

function transferOf(versions: readonly PolicyVersion[]) {
  const gov = { policyRegistry: { sources: sourcesOf(versions) }, policies: { version: 'v' } };
  return { gov, transfer: new PolicyTransfer(gov as never) };
}

/** All that a thread is sent for a job, message by message. */
function messagesOf(transfer: PolicyTransfer, ...orgs: readonly string[]) {
  const messages: object[] = [];
  for (let next = transfer.next(orgs); next !== undefined; next = transfer.next(orgs)) {
    const { news, ofOrgs } = next;
    const names = news.stored.map(({ name }) => name);
    messages.push({ names, forgotten: news.forgotten, ofOrgs, isLast: news.version !== undefined });
  }
  return messages;
}

describe('a thread', () => {
  test('is told what is global, then what the org of its job has, and nothing of others', () => {
    const { transfer } = transferOf(all);
    expect(messagesOf(transfer, 'acme')).toEqual([
      { names: ['base'], forgotten: [], ofOrgs: false, isLast: false },
      { names: ['acme/a'], forgotten: [], ofOrgs: true, isLast: true },
    ]);
    expect(messagesOf(transfer, 'acme')).toEqual([]);
  });

  test('forgets an org when its job is about another', () => {
    const { transfer } = transferOf(all);
    messagesOf(transfer, 'acme');
    expect(messagesOf(transfer, 'globex')).toEqual([
      { names: ['globex/a'], forgotten: ['acme/a'], ofOrgs: true, isLast: true },
    ]);
    expect(messagesOf(transfer)).toEqual([{ names: [], forgotten: ['globex/a'], ofOrgs: false, isLast: true }]);
    expect(messagesOf(transfer, 'nobody')).toEqual([]);
  });

  test('is told what has changed since', () => {
    const { gov, transfer } = transferOf(all);
    messagesOf(transfer, 'acme');
    const changed = version('acme/a', 'org:acme', 'rules: [] # again');
    gov.policyRegistry.sources = sourcesOf([...all, changed]);
    expect(messagesOf(transfer, 'acme')).toEqual([{ names: ['acme/a'], forgotten: [], ofOrgs: true, isLast: true }]);
  });

  test('is told much in several messages, files by themselves', () => {
    const long = 'x'.repeat(200_000);
    const { transfer } = transferOf(['a', 'b', 'c'].map((name) => version(`acme/${name}`, 'org:acme', long)));
    expect(messagesOf(transfer, 'acme')).toEqual([
      { names: [], forgotten: [], ofOrgs: false, isLast: false },
      { names: ['acme/a', 'acme/b'], forgotten: [], ofOrgs: true, isLast: false },
      { names: ['acme/c'], forgotten: [], ofOrgs: true, isLast: true },
    ]);
  });
});
