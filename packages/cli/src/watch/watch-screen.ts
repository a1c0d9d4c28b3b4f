import type { GlobalValues } from '../command-line/command.ts';
import type { Op } from '../commands/op-filters.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import type { Shell } from '../shell.ts';
import { onScreen, steps } from './on-screen.ts';
import { opKey } from './watched-op.ts';
import { renderWatch } from './render-watch.ts';
import type { ControlAction } from './watch-model.ts';
import { WatchModel } from './watch-model.ts';
import type { WatchFilter } from './watch-list.ts';
import { watchOps } from './watched-ops.ts';

/** Operations on the whole terminal, live, with keys to control them. */
export function watchOnScreen(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  filter: WatchFilter,
): Promise<number> {
  const model = new WatchModel();
  return onScreen<Op>(shell, globals, {
    model,
    watch: watchOps(client, filter),
    render: (size, hasColours) => renderWatch(model, client.apiUrl, size, hasColours),
    press: (key) => press(client, model, key),
  });
}

const actions: Readonly<Record<string, ControlAction>> = { p: 'pause', r: 'resume', t: 'terminate' };

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
    pause: () => client.call('pauseOp', { params, body }),
    resume: () => client.call('resumeOp', { params, body }),
    terminate: () => client.call('terminateOp', { params, body }),
  };
  try {
    const answer = await calls[action]();
    model.change(answer.op, performance.now());
    model.message = `${op.op_id} is ${answer.op.state}.`;
  } catch (error) {
    model.message = error instanceof Error ? error.message : String(error);
  }
}
