import { Unknown } from '../../ui/unknown.tsx';
import { noticeText } from './notice-text.ts';
import type { Row } from './row-model.ts';

/** A text that may be cut short; the whole of it on hover. */
export function OrUnknown({ text }: { readonly text: string }) {
  return text === '' ? <Unknown /> : <span title={text}>{text}</span>;
}

/** What the operation is for; or, for a while, what came of a control that did not go as it was meant. */
export function RowSummary({ row }: { readonly row: Row }) {
  const { op, notice } = row;
  if (notice === undefined) return <OrUnknown text={op.summary} />;
  const words = noticeText(notice, row);
  return (
    <span title={words} className="font-medium text-warn">
      {words}
    </span>
  );
}
