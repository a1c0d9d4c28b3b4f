import { Buffer } from 'node:buffer';
import type { AuditQuery, AuditReader, StoredEntry } from '../audit/audit-reader.ts';
import type { ResultAnswer, ResultPorts, ResultRequest } from '../decision/check-result.ts';
import { checkResult } from '../decision/check-result.ts';
import { judgeResult } from '../decision/judge-result.ts';
import { recordedDecision } from '../decision/recorded-decision.ts';
import type { Store } from '../store.ts';
import type { TestAgent, TestGovernance } from './test-governance.ts';

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const utf8 = {
  decode: (bytes: Uint8Array) => {
    try {
      return decoder.decode(bytes);
    } catch {
      return undefined;
    }
  },
  encode: (text: string): Uint8Array => Buffer.from(text),
};

/** The log of a store. Only an entry that decided has a run. */
function logOf(store: Store): AuditReader {
  const find = async (
    { opId = '', run, from = 0, limit }: AuditQuery,
    order: (entries: StoredEntry[]) => StoredEntry[],
  ) => {
    const entries = (await store.after(0, Number.MAX_SAFE_INTEGER)).filter((entry) => {
      const decision = recordedDecision(entry);
      const isOf = entry.canonical.includes(`"op_id":"${opId}"`);
      return isOf && (run === undefined || (decision !== undefined && decision.at >= from));
    });
    return { entries: order(entries).slice(0, limit), next: null };
  };
  return {
    latest: (query) => find(query, (entries) => entries.toReversed()),
    oldest: (query) => find(query, (entries) => entries),
  };
}

/** What judging results works with. Large ones are judged aside in the same process. */
export function resultPorts({ gov, store }: Pick<TestGovernance, 'gov' | 'store'>): ResultPorts {
  return {
    log: logOf(store),
    utf8,
    judgeAside: (result, { now, run, spends }) => {
      const { policies, sha256 } = gov;
      const spendOf = (party: (typeof result.parties)[number]) => {
        const found = spends[result.parties.indexOf(party)];
        if (found === undefined) throw new Error('nobody brought what it has spent');
        return found;
      };
      const judge = { policies, sha256, ...utf8, costOf: () => 10_000_000 };
      return Promise.resolve(judgeResult(judge, result, { now, run: () => run, spendOf }));
    },
  };
}

/** Asks about what an operation brought back. */
export function askAbout(
  test: Pick<TestGovernance, 'gov' | 'store'>,
  { id, token }: TestAgent,
  opId: string,
  result: string,
  over: { readonly request?: Partial<ResultRequest>; readonly ports?: Partial<ResultPorts> } = {},
): Promise<ResultAnswer> {
  const about = { result: utf8.encode(result), isError: false, part: 'result' } as const;
  const request = { agentId: id, token, opId, ...about, ...over.request };
  return checkResult(test.gov, { ...resultPorts(test), ...over.ports }, request);
}
