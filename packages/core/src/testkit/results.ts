import { Buffer } from 'node:buffer';
import type { AuditReader } from '../audit/audit-reader.ts';
import type { ResultAnswer, ResultPorts, ResultRequest } from '../decision/check-result.ts';
import { checkResult } from '../decision/check-result.ts';
import { judgeResult } from '../decision/judge-result.ts';
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

/** The log of a store, read from its end. */
function logOf(store: Store): AuditReader {
  const latest: AuditReader['latest'] = async ({ opId = '' }) => {
    const entries = await store.after(0, Number.MAX_SAFE_INTEGER);
    return {
      entries: entries.filter(({ canonical }) => canonical.includes(`"op_id":"${opId}"`)).toReversed(),
      next: null,
    };
  };
  return { latest, oldest: latest };
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
  const request = { agentId: id, token, opId, result: utf8.encode(result), isError: false, ...over.request };
  return checkResult(test.gov, { ...resultPorts(test), ...over.ports }, request);
}
