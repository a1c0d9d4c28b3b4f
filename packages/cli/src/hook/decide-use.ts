import type { HookHostName } from '@reeve/contract/names';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { GatewayConversation } from './ask-gateway.ts';
import type { ActionAnswer } from './describe-answer.ts';
import { deniedText, heldText } from './describe-answer.ts';
import type { BeforeTool } from './hook-event.ts';
import type { AskedUse } from './open-uses.ts';
import { beginUse, settleUse } from './open-uses.ts';
import { traceOf } from './operation-ids.ts';
import type { OpenUse, SessionFile } from './session-file.ts';

/** May the tool be used? */
export interface UseDecision {
  readonly isAllowed: boolean;
  /** A person has said yes to it. */
  readonly isApproved: boolean;
  readonly text: string;
}

export interface DecideUse {
  readonly event: BeforeTool;
  readonly agent: ResolvedAgent;
  readonly host: HookHostName;
  readonly file: SessionFile;
  readonly subjectToken: () => string | undefined;
  /** How long it may wait for a person. */
  readonly waitMs: () => number;
}

/** Asks about everything that the tool would do. The strictest answer counts for all of it. */
export async function decideUse({ event, agent, host, file, subjectToken, waitMs }: DecideUse): Promise<UseDecision> {
  using gateway = await GatewayConversation.open(agent, { host, trace: traceOf(event.session), subjectToken });
  const use = await file.change((uses) => beginUse(uses, event, isAlive));
  const settle = (settled: OpenUse | undefined) =>
    file.change((uses) => ({ uses: settleUse(uses, use, settled), result: undefined }));
  let { wasHeld } = use;
  try {
    let answers = await gateway.ask(event.actions, use.spans);
    wasHeld ||= answers.some(isHeld);
    if (answers.some(isHeld) && !answers.some(isDenied) && waitMs() > 0) {
      const { waitForPeople } = await import('./wait-for-people.ts');
      const decided = await waitForPeople(answers.filter(isHeld), gateway.asker, agent.gateway, waitMs());
      answers = answers.map((answer) => decided.find(({ span }) => span === answer.span) ?? answer);
      // While one part waited, an operator may have stopped another one that was allowed before. None has begun yet.
      if (answers.length > 1 && answers.every(isAllowed)) answers = await gateway.ask(event.actions, use.spans);
    }
    return await settledBy(answers, { gateway, use, settle, wasHeld });
  } catch (error) {
    // Nothing happens, but the gateway may have allowed it. The end of the session reports that.
    await settle({ ...use, state: wasHeld ? 'held' : 'failed' });
    throw error;
  }
}

interface Settling {
  readonly gateway: GatewayConversation;
  readonly use: AskedUse;
  readonly settle: (settled: OpenUse | undefined) => Promise<void>;
  readonly wasHeld: boolean;
}

async function settledBy(
  answers: readonly ActionAnswer[],
  { gateway, use, settle, wasHeld }: Settling,
): Promise<UseDecision> {
  const denied = answers.filter(isDenied);
  const held = answers.filter(isHeld);
  if (denied.length > 0) {
    await settle(undefined);
    const others = answers.filter((answer) => !isDenied(answer)).map(({ span }) => span);
    // The denial stands whether or not the gateway hears that the rest does not happen.
    await gateway.complete(others, 'cancelled', 'another part of the same tool use was denied').catch(() => {});
    return { isAllowed: false, isApproved: false, text: deniedText(denied) };
  }
  if (held.length > 0) {
    const others = answers.filter((answer) => !isHeld(answer)).map(({ span }) => span);
    await settle({ ...use, state: 'held', spans: use.spans.map((span) => (others.includes(span) ? null : span)) });
    await gateway
      .complete(others, 'cancelled', 'another part of the same tool use waits for an approval')
      .catch(() => {});
    return { isAllowed: false, isApproved: false, text: heldText(held) };
  }
  await settle({ ...use, state: 'running' });
  return { isAllowed: true, isApproved: wasHeld, text: '' };
}

function isAllowed({ decision }: ActionAnswer): boolean {
  return decision === 'allow';
}

function isDenied({ decision }: ActionAnswer): boolean {
  return decision === 'deny';
}

function isHeld({ decision }: ActionAnswer): boolean {
  return decision === 'pending';
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
