import type { GlobalValues } from '../command-line/command.ts';
import type { Approval } from '../commands/approval-filters.ts';
import { verdictText } from '../commands/approvals-decide.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import type { Shell } from '../shell.ts';
import { onScreen, steps } from '../watch/on-screen.ts';
import type { WatchFilter } from '../watch/watch-list.ts';
import type { Verdict } from './approvals-model.ts';
import { ApprovalsModel } from './approvals-model.ts';
import { renderApprovals } from './render-approvals.ts';
import { watchApprovals } from './watched-approvals.ts';

/** Approvals on the whole terminal, live, with keys to decide. */
export function approvalsOnScreen(
  shell: Shell,
  globals: GlobalValues,
  client: GatewayClient,
  filter: WatchFilter,
): Promise<number> {
  const model = new ApprovalsModel();
  return onScreen<Approval>(shell, globals, {
    model,
    watch: watchApprovals(client, filter),
    render: (size, hasColours) => renderApprovals(model, client.apiUrl, size, hasColours),
    press: (key) => press(client, model, key),
  });
}

const verdicts: Readonly<Record<string, Verdict>> = { a: 'approve', r: 'reject' };

async function press(client: GatewayClient, model: ApprovalsModel, key: string): Promise<void> {
  const { asking } = model;
  if (asking !== undefined) {
    model.asking = undefined;
    model.message = '';
    if (key === 'y' || key === 'Y') await decide(client, model, asking.verdict, asking.approval.id);
    return;
  }
  const verdict = verdicts[key];
  const step = steps[key];
  if (verdict !== undefined) await ask(client, model, verdict);
  else if (step !== undefined) model.move(step);
  else if (key === 'enter') model.isOpen = !model.isOpen;
  else if (key === 'escape') model.isOpen = false;
}

/** An event does not say whether the caller's verdict counts. */
async function ask(client: GatewayClient, model: ApprovalsModel, verdict: Verdict): Promise<void> {
  const { chosen } = model;
  try {
    if (chosen?.state === 'open' && chosen.refusal === undefined && chosen.approvers?.words) {
      model.change(await client.call('getApproval', { params: { id: chosen.id } }), performance.now());
    }
    model.ask(verdict);
  } catch (error) {
    model.message = error instanceof Error ? error.message : String(error);
  }
}

async function decide(client: GatewayClient, model: ApprovalsModel, verdict: Verdict, id: string): Promise<void> {
  const params = { id };
  const body = { reason: '' };
  const calls = {
    approve: () => client.call('approve', { params, body }),
    reject: () => client.call('reject', { params, body }),
  };
  try {
    const approval = await calls[verdict]();
    model.change(approval, performance.now());
    model.message = verdictText(approval);
  } catch (error) {
    model.message = error instanceof Error ? error.message : String(error);
  }
}
