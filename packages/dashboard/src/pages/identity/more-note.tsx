import { formatCount } from '../../api/format.ts';

interface MoreNoteProps {
  readonly shown: number;
  readonly total: number;
}

/** Says that the list is longer than shown. */
export function MoreNote({ shown, total }: MoreNoteProps) {
  return (
    <p className="border-t px-4 py-2 text-sm text-muted">
      The first {formatCount(shown)} of {formatCount(total)} are shown. The API lists them all.
    </p>
  );
}
