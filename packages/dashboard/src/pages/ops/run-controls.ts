import { plural } from '../../api/format.ts';
import { toast } from '../../ui/toast.ts';
import { askControl, askControls } from './ask-control.ts';
import { noticeText } from './notice-text.ts';
import type { ControlAction } from './op.ts';
import type { OpsBoard } from './ops-board.ts';
import { nameOf } from './receipt.ts';

/** Requests the controls, and tells the person the result. */
export async function runControls(
  board: OpsBoard,
  keys: readonly string[],
  action: ControlAction,
  reason: string,
): Promise<void> {
  const [key] = keys;
  if (key !== undefined && keys.length === 1) return runOne(board, key, action, reason);
  const { done, refused, unknown } = await askControls(board, keys, action, reason);
  const words = `${nameOf(action)}: ${plural(done, 'operation')} changed`;
  const rest = [
    ...(refused === 0 ? [] : [`${refused} refused`]),
    ...(unknown === 0 ? [] : [`of ${unknown} nothing was heard`]),
  ].join(', ');
  if (rest === '') toast.info(`${words}. The rows tell when the agents confirm.`);
  else toast.failed(`${words}, ${rest}. The rows say why.`);
}

async function runOne(board: OpsBoard, key: string, action: ControlAction, reason: string): Promise<void> {
  const outcome = await askControl(board, key, action, reason);
  const row = board.rows.get(key);
  if (row?.notice !== undefined) toast.failed(noticeText(row.notice, row));
  else if (outcome === 'done') toast.info(`${nameOf(action)} requested. The row tells when the agent confirms.`);
}
