import type { GlobalValues } from '../command-line/command.ts';
import type { Op } from '../commands/op-filters.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { hasColours } from '../output/colour.ts';
import type { Shell } from '../shell.ts';
import { onInterruption } from '../terminal/interruption.ts';
import { opKey } from './op-key.ts';
import { renderWatch } from './render-watch.ts';
import { Screen } from './screen.ts';
import type { ControlAction } from './watch-model.ts';
import { WatchModel } from './watch-model.ts';
import type { OpFilter } from './watched-ops.ts';
import { watchOps } from './watched-ops.ts';

const drawEveryMs = 100;
const forgetEveryMs = 1000;

/** Operations on the whole terminal, live, with keys to control them. */
export async function watchOnScreen(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  filter: OpFilter,
): Promise<number> {
  using interruption = onInterruption();
  const quit = new AbortController();
  const signal = AbortSignal.any([interruption.signal, quit.signal]);
  const model = new WatchModel();
  let timer: NodeJS.Timeout | undefined;
  const draw = () => {
    timer = undefined;
    screen.draw(renderWatch(model, client.apiUrl, screen.size, hasColours(shell)));
  };
  const drawSoon = () => {
    timer ??= setTimeout(draw, drawEveryMs);
  };
  const onKey = (key: string) => {
    if (key === 'interrupt' || (key === 'q' && model.asking === undefined)) quit.abort();
    else void press(client, model, key).then(drawSoon);
    drawSoon();
  };
  using screen = new Screen(shell, onKey, drawSoon);
  draw();
  const forgetting = setInterval(() => {
    model.forget(performance.now());
    drawSoon();
  }, forgetEveryMs);
  const listener = {
    onAll: (ops: readonly Op[]) => (model.reset(ops, performance.now()), drawSoon()),
    onChange: (op: Op) => (model.change(op, performance.now()), drawSoon()),
    onConnection: (state: 'live' | 'lost') => ((model.connection = state), drawSoon()),
  };
  try {
    await watchOps(client, filter, listener, { signal, timeoutMs: globals.timeout * 1000 });
  } finally {
    clearInterval(forgetting);
    clearTimeout(timer);
  }
  return 0;
}

const actions: Readonly<Record<string, ControlAction>> = { p: 'pause', r: 'resume', t: 'terminate' };
const steps: Readonly<Record<string, number>> = { up: -1, k: -1, down: 1, j: 1, 'page up': -10, 'page down': 10 };

async function press(client: GatewayClient, model: WatchModel, key: string): Promise<void> {
  const { asking } = model;
  if (asking !== undefined) {
    model.asking = undefined;
    model.message = '';
    if (key === 'y' || key === 'Y') await control(client, model, asking.action, asking.op);
    return;
  }
  const action = actions[key];
  const step = steps[key];
  if (action !== undefined) model.ask(action);
  else if (step !== undefined) model.move(step);
}

async function control(client: GatewayClient, model: WatchModel, action: ControlAction, op: Op): Promise<void> {
  const params = { id: opKey(op) };
  const body = { reason: '' };
  const calls = {
    pause: () => client.call('pauseOp', { method: 'POST', path: '/api/v1/ops/{id}/pause', params, body }),
    resume: () => client.call('resumeOp', { method: 'POST', path: '/api/v1/ops/{id}/resume', params, body }),
    terminate: () => client.call('terminateOp', { method: 'POST', path: '/api/v1/ops/{id}/terminate', params, body }),
  };
  try {
    const answer = await calls[action]();
    model.change(answer.op, performance.now());
    model.message = `${op.op_id} is ${answer.op.state}.`;
  } catch (error) {
    model.message = error instanceof Error ? error.message : String(error);
  }
}
