import type { HookHostName } from '@reeve/contract/names';
import type { ResolvedAgent } from '../agent-identity/resolve-agent.ts';
import { GatewayConversation } from './ask-gateway.ts';
import type { ActionAnswer } from './describe-answer.ts';
import { deniedText, heldText, unreplaceableText } from './describe-answer.ts';
import type { EventObject } from './event-members.ts';
import type { BeforeTool, PlannedAction } from './hook-event.ts';
import type { AskedUse } from './open-uses.ts';
import { beginUse, settleUse } from './open-uses.ts';
import { fingerprintOf, traceOf } from './operation-ids.ts';
import { rewrittenInput } from './rewritten-input.ts';
import type { OpenUse, SessionFile } from './session-file.ts';
import { isSpoilt } from './session-file.ts';

/** May the tool be used? */
export interface UseDecision {
  readonly isAllowed: boolean;
  /** A person has said yes to it. */
  readonly isApproved: boolean;
  readonly text: string;
  /** What the tool gets in place of its input. */
  readonly input?: EventObject | undefined;
}

export interface DecideUse {
  readonly event: BeforeTool;
  /** Whether the host takes another input for the tool. */
  readonly canRewrite: boolean;
  readonly agent: ResolvedAgent;
  readonly host: HookHostName;
  readonly file: SessionFile;
  readonly subjectToken: () => string | undefined;
  /** How long it may wait for a person. */
  readonly waitMs: () => number;
}

/** Asks about everything that the tool would do. The strictest answer counts for all of it. */
export async function decideUse({ event, agent, host, file, ...how }: DecideUse): Promise<UseDecision> {
  const { subjectToken, waitMs, canRewrite } = how;
  if (file.read().some(isSpoilt)) return { isAllowed: false, isApproved: false, text: spoiltText };
  using gateway = await GatewayConversation.open(agent, { host, trace: traceOf(event.session), subjectToken });
  const use = await file.change((uses) => beginUse(uses, event, isAlive));
  const settle = (settled: OpenUse | undefined) =>
    file.change((uses) => ({ uses: settleUse(uses, use, settled), result: undefined }));
  let { wasHeld } = use;
  try {
    const ask = async () => gateway.ask(event.actions, use.spans, canRewrite);
    let answers = await ask();
    wasHeld ||= answers.some(isHeld);
    if (answers.some(isHeld) && !answers.some(isDenied) && waitMs() > 0) {
      const { waitForPeople } = await import('./wait-for-people.ts');
      const decided = await waitForPeople(answers.filter(isHeld), gateway.asker, agent.gateway, {
        waitMs: waitMs(),
        canRewrite,
      });
      answers = answers.map((answer) => decided.find(({ span }) => span === answer.span) ?? answer);
      // While one part waited, an operator may have stopped another one that was allowed before. None has begun yet.
      // And this answer says what the tool gets, and whether its result is judged.
      if (answers.every(isAllowed)) answers = await ask();
    }
    return await settledBy(answers, { gateway, use, settle, wasHeld, unreplaceable: event.unreplaceable });
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
  readonly unreplaceable: string | undefined;
}

async function settledBy(
  answers: readonly ActionAnswer[],
  { gateway, use, settle, wasHeld, unreplaceable }: Settling,
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
  const judged = answers.filter(({ judgesResult }) => judgesResult);
  if (judged.length > 0 && unreplaceable !== undefined) {
    await settle(undefined);
    const spans = answers.map(({ span }) => span);
    await gateway.complete(spans, 'cancelled', 'its result could not be judged').catch(() => {});
    return { isAllowed: false, isApproved: false, text: unreplaceableText(judged, unreplaceable) };
  }
  const rewritten = answers.map(rewrittenInput).find((input) => input !== undefined);
  const running = { ...use, state: 'running', judged: judged.map(({ span }) => span) } as const;
  // The event after the tool names what it got.
  await settle(
    rewritten === undefined ? running : { ...running, fingerprint: fingerprintOf(withInput(answers, rewritten)) },
  );
  return { isAllowed: true, isApproved: wasHeld, text: '', input: rewritten };
}

export const spoiltText =
  'Denied by policy: a tool of this session has brought back what the model must not read, and it could not be taken away. Begin a new session.';

function withInput(answers: readonly ActionAnswer[], args: EventObject): readonly PlannedAction[] {
  return answers.map(({ planned }) =>
    'tool' in planned.action ? { ...planned, action: { ...planned.action, args } } : planned,
  );
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
