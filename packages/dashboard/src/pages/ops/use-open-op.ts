import { useEffect } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { useRoute } from '../../api/use-route.ts';
import { partsOf } from './op.ts';
import type { Row } from './row-model.ts';
import type { OpsList } from './use-ops-board.ts';

export interface OpenOp {
  readonly row: Row | undefined;
  readonly error: unknown;
  readonly retry: () => void;
  /** Full addresses of the operations that a bare id may mean. */
  readonly candidates: readonly string[];
}

/** The operation in the URL: from the list, else requested from the gateway. A bare `trace:span` is enough. */
export function useOpenOp({ board, all }: OpsList, op: string | undefined): OpenOp {
  const listed = op === undefined ? undefined : all.get(op);
  const isAsked = op !== undefined && listed === undefined;
  const { data, error, refetch } = useRoute('getOp', { params: { id: op ?? '' } }, { enabled: isAsked });
  useEffect(() => {
    if (isAsked && data !== undefined) board.tell(data, Date.now());
  }, [board, isAsked, data]);
  const row = listed ?? (isAsked && data !== undefined ? findRow(all, op, data.op_id) : undefined);
  const candidates = isAsked && error instanceof ApiError ? (error.problem.candidates ?? []) : [];
  return { row, error: isAsked ? error : null, retry: () => void refetch(), candidates };
}

function findRow(all: ReadonlyMap<string, Row>, asked: string, opId: string): Row | undefined {
  if (partsOf(asked) !== undefined) return all.get(asked);
  for (const row of all.values()) if (row.op.op_id === opId) return row;
  return undefined;
}
