import { Unknown } from '../../ui/unknown.tsx';
import { noticeText } from './notice-text.ts';
import type { Row } from './row-model.ts';

/** Text that may be cut, in full on hover. */
export function OrUnknown({ text }: { readonly text: string }) {
  return text === '' ? <Unknown /> : <span title={text}>{text}</span>;
}

/** The purpose of the operation or, for a while, the outcome of a control that did not go as intended. */
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
