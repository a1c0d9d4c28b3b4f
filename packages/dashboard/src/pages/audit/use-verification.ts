import type { Verdict } from '@reeve/contract/audit';
import { useEffect, useRef, useState } from 'react';
import { useGrant } from '../../api/use-session.ts';
import type { VerifyProgress } from './verify-chain.ts';
import { verifyChain } from './verify-chain.ts';

export type VerifyWork =
  | { readonly state: 'idle' }
  | { readonly state: 'running'; readonly progress: VerifyProgress }
  | { readonly state: 'done'; readonly verdict: Verdict; readonly at: string }
  | { readonly state: 'failed'; readonly error: unknown };

export interface Verification {
  readonly work: VerifyWork;
  readonly start: () => void;
  readonly stop: () => void;
}

/** Verifies the chain of the log in this browser, on request. */
export function useVerification(): Verification {
  const grant = useGrant();
  const [work, setWork] = useState<VerifyWork>({ state: 'idle' });
  const running = useRef<AbortController>(undefined);
  useEffect(() => () => running.current?.abort(), []);
  const start = async () => {
    const abort = new AbortController();
    running.current = abort;
    setWork({ state: 'running', progress: { entries: 0, bytes: 0 } });
    try {
      const isWhole = (grant?.orgId ?? null) === null;
      const verdict = await verifyChain(isWhole, abort.signal, (progress) => {
        if (!abort.signal.aborted) setWork({ state: 'running', progress });
      });
      setWork({ state: 'done', verdict, at: new Date().toISOString() });
    } catch (error) {
      setWork(abort.signal.aborted ? { state: 'idle' } : { state: 'failed', error });
    }
  };
  return { work, start: () => void start(), stop: () => running.current?.abort() };
}
