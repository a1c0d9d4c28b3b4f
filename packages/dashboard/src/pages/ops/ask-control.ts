import { ApiError, messageOf } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import type { ControlAction } from './op.ts';
import type { OpsBoard } from './ops-board.ts';
import type { Refusal } from './row-model.ts';

/** An intent without confirmation by then is dropped. The row returns to what the gateway said. */
const answerMs = 10_000;
const atOnce = 6;
const pauseMs = 1500;

const routes = { pause: 'pauseOp', resume: 'resumeOp', terminate: 'terminateOp' } as const;

export type Outcome = 'done' | 'refused' | 'unknown' | 'busy';

let intents = 0;

/** Requests a control of one operation. The row shows the request at once, and the result when it is known. */
export async function askControl(
  board: OpsBoard,
  key: string,
  action: ControlAction,
  reason: string,
): Promise<Outcome> {
  const intentId = ++intents;
  const deadline = Date.now() + answerMs;
  board.input(key, { type: 'asked', intent: { id: intentId, action, reason, deadline } });
  const late = setTimeout(() => void refreshOp(board, key), answerMs + 100);
  try {
    const { op, control } = await callRoute(routes[action], { params: { id: key }, body: { reason } });
    board.input(key, { type: 'accepted', intentId, action, op, isNoop: control === null, at: Date.now() });
    return 'done';
  } catch (error) {
    if (error instanceof ApiError && error.status >= 400 && error.status < 500) {
      // The record shows who or what was faster.
      await refreshOp(board, key);
      const refusal = refusalOf(error);
      board.input(key, { type: 'refused', intentId, action, refusal, at: Date.now() });
      return error.code === 'rate_limited' ? 'busy' : 'refused';
    }
    board.input(key, { type: 'unanswered', intentId, action, detail: messageOf(error), at: Date.now() });
    void refreshOp(board, key);
    return 'unknown';
  } finally {
    clearTimeout(late);
  }
}

function refusalOf({ detail, code, problem }: ApiError): Refusal {
  return { detail, code, state: problem.state, allowed: problem.allowed ?? [] };
}

/** Reads the current state of one operation. */
export async function refreshOp(board: OpsBoard, key: string): Promise<void> {
  try {
    board.tell(await callRoute('getOp', { params: { id: key } }), Date.now());
  } catch (error) {
    if (error instanceof ApiError && error.code === 'op_not_found') board.input(key, { type: 'gone', at: Date.now() });
  }
}

/** The same for many, a few at a time, and slower if the gateway asks for it. */
export async function askControls(
  board: OpsBoard,
  keys: readonly string[],
  action: ControlAction,
  reason: string,
  onProgress: (done: number) => void = () => undefined,
): Promise<Readonly<Record<'done' | 'refused' | 'unknown', number>>> {
  const counts = { done: 0, refused: 0, unknown: 0 };
  const waiting = [...keys];
  const work = async () => {
    for (let key = waiting.shift(); key !== undefined; key = waiting.shift()) {
      const outcome = await askControl(board, key, action, reason);
      if (outcome === 'busy') {
        waiting.push(key);
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
        continue;
      }
      counts[outcome] += 1;
      onProgress(keys.length - waiting.length);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, keys.length) }, () => work()));
  return counts;
}
