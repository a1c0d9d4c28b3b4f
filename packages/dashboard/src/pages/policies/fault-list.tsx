import type { ApiFault } from '../../api/api-error.ts';
import { Icon } from '../../ui/icon.tsx';

interface FaultListProps {
  readonly faults: readonly ApiFault[] | undefined;
  readonly onGoTo: (fault: ApiFault) => void;
}

/** The faults, each with a link to its line. */
export function FaultList({ faults, onGoTo }: FaultListProps) {
  if (faults === undefined) return <p className="px-4 py-2 text-sm text-muted">Checking…</p>;
  if (faults.length === 0) {
    return (
      <p role="status" className="flex items-center gap-1.5 px-4 py-2 text-sm text-ok">
        <Icon name="check" /> Valid, together with the documents in force.
      </p>
    );
  }
  return (
    <ul aria-label="What is wrong" className="max-h-40 overflow-auto py-1">
      {faults.map((fault) => (
        <li key={`${fault.line}:${fault.column}:${fault.message}`}>
          <button
            type="button"
            onClick={() => onGoTo(fault)}
            className="flex w-full items-start gap-2 px-4 py-1 text-left text-sm text-danger hover:bg-hover"
          >
            <Icon name="alert" className="mt-0.5" />
            <span>
              Line {fault.line}, column {fault.column}: {fault.message}
            </span>
          </button>
        </li>
      ))}
    </ul>
  );
}
