import { opColumns } from '../commands/ops-list.ts';
import type { Op } from '../commands/op-filters.ts';
import { cleanText } from '../output/clean-text.ts';
import { paint } from '../output/colour.ts';
import { counted } from '../output/duration.ts';
import { renderTable } from '../output/table.ts';
import { fitText } from '../output/text-width.ts';
import { opKey } from './watched-op.ts';
import type { WatchModel } from './watch-model.ts';

export interface ScreenSize {
  readonly columns: number;
  readonly rows: number;
}

const keys = '↑↓ choose   p pause   r resume   t terminate   q quit';
/** Head, titles and foot. */
const frameRows = 4;

/** The lines of the screen, as many as fit. */
export function renderWatch(model: WatchModel, place: string, size: ScreenSize, hasColours: boolean): string[] {
  const rows = model.rows();
  const { chosen } = model;
  const at =
    chosen === undefined
      ? 0
      : Math.max(
          0,
          rows.findIndex((op) => opKey(op) === opKey(chosen)),
        );
  const room = Math.max(1, size.rows - frameRows);
  const start = Math.max(0, Math.min(at - Math.floor(room / 2), rows.length - room));
  const visible = rows.slice(start, start + room);
  const [titles = '', ...body] = tableLines(visible, size.columns - 2, hasColours);
  const marked = body.map((line, index) => {
    const isChosen = start + index === at && rows.length > 0;
    return `${isChosen ? (hasColours ? paint('>', 'bold') : '>') : ' '} ${line}`;
  });
  const empty = rows.length === 0 ? ['  No operations.'] : [];
  const filler = Array.from({ length: Math.max(0, room - marked.length - empty.length) }, () => '');
  return [
    head(model, place, size, hasColours),
    `  ${titles}`,
    ...marked,
    ...empty,
    ...filler,
    '',
    foot(model, size, hasColours),
  ];
}

function tableLines(rows: readonly Op[], width: number, hasColours: boolean): string[] {
  return renderTable(opColumns, rows, { width, hasColours }).split('\n');
}

function head(model: WatchModel, place: string, { columns }: ScreenSize, hasColours: boolean): string {
  const counts = Object.entries(model.counts()).map(([state, count]) => `${count} ${state}`);
  const total = Object.values(model.counts()).reduce((sum, count) => sum + count, 0);
  const text = `${place}  ${model.connection === 'live' ? 'live' : 'connecting'}  ${counted(total, 'operation')}${counts.length === 0 ? '' : `: ${counts.join(', ')}`}`;
  const fitted = fitText(cleanText(text), columns);
  return hasColours ? paint(fitted, 'bold') : fitted;
}

function foot(model: WatchModel, { columns }: ScreenSize, hasColours: boolean): string {
  const { asking, message } = model;
  if (asking !== undefined) {
    const question = `${asking.action} ${asking.op.op_id} of ${asking.op.agent.org_id}/${asking.op.agent.team_id}/${asking.op.agent.agent_id}? y or n`;
    const fitted = fitText(cleanText(question), columns);
    return hasColours ? paint(fitted, 'yellow') : fitted;
  }
  return fitText(cleanText(message === '' ? keys : `${message}   ${keys}`), columns);
}
