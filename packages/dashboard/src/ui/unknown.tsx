import { unknown } from '../api/format.ts';

/** Shows an unknown value as unknown. */
export function Unknown() {
  return (
    <span title="not known" className="text-muted">
      <span aria-hidden="true">{unknown}</span>
      <span className="sr-only">not known</span>
    </span>
  );
}
