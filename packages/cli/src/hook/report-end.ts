import type { HookHostName } from '@reeve/contract/names';
import type { Outcome } from '@reeve/sdk';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { GatewayConversation } from './ask-gateway.ts';
import type { HookEvent } from './hook-event.ts';
import { asEnded, endedUse } from './open-uses.ts';
import { traceOf } from './operation-ids.ts';
import { digestOf } from './result-bytes.ts';
import type { OpenUse, SessionFile } from './session-file.ts';
import { isSpoilt } from './session-file.ts';

/** Something is over. */
export type EndEvent = Exclude<HookEvent, { readonly kind: 'before' | 'onward' | 'other' }>;

export interface ReportEnd {
  readonly event: EndEvent;
  /** Asked for only if there is something to report. */
  readonly agent: () => Promise<ResolvedAgent>;
  readonly host: HookHostName;
  readonly file: SessionFile;
}

/** Reports the operations that are over. Those that could not be reported stay, for the end of the session. */
export async function reportEnd({ event, agent, host, file }: ReportEnd): Promise<void> {
  const ended = endedBy(event, file.read());
  const running = ended.filter(({ state }) => state !== 'ended');
  if (running.length > 0) {
    const asker = { host, trace: traceOf(event.session), subjectToken: () => undefined };
    using gateway = await GatewayConversation.open(await agent(), asker);
    const [outcome, detail] = outcomeOf(event);
    const spans = running.flatMap((use) => use.spans).filter((span) => span !== null);
    await gateway.complete(spans, outcome, detail);
  }
  if (ended.length > 0) {
    const isOver = ({ key }: OpenUse) => ended.some((use) => use.key === key);
    const result = event.kind === 'after' && event.result !== undefined ? digestOf(event.result) : undefined;
    const left = (use: OpenUse) => (result === undefined ? [] : [asEnded(use, result)]);
    await file.change((uses) => ({
      uses: uses.flatMap((use) => (isOver(use) ? left(use) : [use])),
      result: undefined,
    }));
  }
  if (event.kind === 'session_over') file.removeForgotten(Date.now());
}

function endedBy(event: EndEvent, uses: readonly OpenUse[]): readonly OpenUse[] {
  switch (event.kind) {
    case 'after': {
      const use = endedUse(uses, event);
      return use === undefined ? [] : [use];
    }
    case 'turn_over':
      return uses.filter(({ state, agent }) => (state === 'running' || state === 'ended') && agent === event.agent);
    case 'session_over':
      // Who takes the session up again still must not read it.
      return uses.filter((use) => !isSpoilt(use));
  }
}

function outcomeOf(event: EndEvent): readonly [Outcome, string] {
  switch (event.kind) {
    case 'after':
      return [event.outcome, ''];
    case 'turn_over':
      return ['cancelled', 'the turn ended without a result of it'];
    case 'session_over':
      return ['cancelled', 'the session ended'];
  }
}
