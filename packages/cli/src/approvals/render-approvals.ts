import { approvalColumns, approvedText } from '../commands/approval-columns.ts';
import type { Approval } from '../commands/approval-filters.ts';
import { approvalText } from '../commands/approvals-show.ts';
import { cleanText } from '../output/clean-text.ts';
import { paint } from '../output/colour.ts';
import { counted } from '../output/duration.ts';
import { renderTable } from '../output/table.ts';
import { fitText } from '../output/text-width.ts';
import type { ScreenSize } from '../watch/render-watch.ts';
import type { ApprovalsModel } from './approvals-model.ts';

const keys = '↑↓ choose   enter look   a approve   r reject   q quit';
/** Head, titles and foot. */
const frameRows = 4;

/** An approval that leaves more to be asked for says so before it is given. */
function ofSeveral(approval: Approval): string {
  return approval.required > 1 ? `, ${approvedText(approval)} so far` : '';
}

/** The lines of the screen, as many as fit. The question for a verdict stands below the whole request. */
export function renderApprovals(model: ApprovalsModel, place: string, size: ScreenSize, hasColours: boolean): string[] {
  const room = Math.max(1, size.rows - frameRows);
  const subject = model.asking?.approval ?? (model.isOpen ? model.chosen : undefined);
  const body =
    subject === undefined ? listLines(model, size, room, hasColours) : ['', ...approvalText(subject).split('\n')];
  const cut = body.length > room + 1 ? [...body.slice(0, room), '… reeve approvals show has all of it'] : body;
  const lines = cut.map((line) => (subject === undefined ? line : fitText(line, size.columns)));
  const filler = Array.from({ length: Math.max(0, room + 1 - lines.length) }, () => '');
  return [head(model, place, size, hasColours), ...lines, ...filler, '', foot(model, size, hasColours)];
}

function listLines(model: ApprovalsModel, size: ScreenSize, room: number, hasColours: boolean): string[] {
  const rows = model.rows();
  const at = Math.max(
    0,
    rows.findIndex(({ id }) => id === model.chosen?.id),
  );
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
  const visible = rows.slice(start, start + room);
  const style = { width: size.columns - 2, hasColours };
  const [titles = '', ...body] = renderTable(approvalColumns, visible, style).split('\n');
  const marked = body.map((line, index) => `${start + index === at ? '>' : ' '} ${line}`);
  return [`  ${titles}`, ...(rows.length === 0 ? ['  Nothing waits for approval.'] : marked)];
}

function head(model: ApprovalsModel, place: string, { columns }: ScreenSize, hasColours: boolean): string {
  const waiting = model.rows().filter(({ state }) => state === 'open').length;
  const state = model.connection === 'live' ? 'live' : 'connecting';
  const text = fitText(cleanText(`${place}  ${state}  ${counted(waiting, 'approval')} open`), columns);
  return hasColours ? paint(text, 'bold') : text;
}

function foot({ asking, message }: ApprovalsModel, { columns }: ScreenSize, hasColours: boolean): string {
  if (asking === undefined) return fitText(cleanText(message === '' ? keys : `${message}   ${keys}`), columns);
  const question = fitText(
    cleanText(`${asking.verdict} ${asking.approval.id}${ofSeveral(asking.approval)}? y or n`),
    columns,
  );
  return hasColours ? paint(question, 'yellow') : question;
}
