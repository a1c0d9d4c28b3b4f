import { unknown } from '../api/format.ts';

/** What is not known is shown as not known. */
export function Unknown() {
  return (
    <span title="not known" className="text-muted">
      <span aria-hidden="true">{unknown}</span>
      <span className="sr-only">not known</span>
    </span>
  );
}
