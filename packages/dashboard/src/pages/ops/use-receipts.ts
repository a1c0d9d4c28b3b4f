import { useEffect, useEffectEvent, useRef } from 'react';
import { ApiError } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import { useConnection, useEvents } from '../../api/use-events.ts';
import type { OpsBoard } from './ops-board.ts';
import { dueReceipts } from './receipt-watch.ts';

const stepMs = 200;
const most = 6;

/** Follows the receipts of visible operations, from requested to effective. */
export function useReceipts(board: OpsBoard, inSight: () => Iterable<string>): void {
  const { state } = useConnection();
  const readAt = useRef(new Map<string, number>());
  const busy = useRef(0);
  const read = async (key: string, id: string) => {
    busy.current += 1;
    try {
      const control = await callRoute('getControl', { params: { id } });
      if (control.kind === 'receipt') board.input(key, { type: 'receipt', control });
    } catch (error) {
      // A receipt that the gateway has dropped will not change any more.
      if (error instanceof ApiError && error.status === 404) readAt.current.set(id, Number.POSITIVE_INFINITY);
    } finally {
      busy.current -= 1;
    }
  };
  const step = useEffectEvent(() => {
    if (state !== 'live' || document.visibilityState !== 'visible' || busy.current >= most) return;
    const now = Date.now();
    const keyed = new Map(
      [...inSight()].flatMap((key) => {
        const control = board.rows.get(key)?.op.control;
        return control === undefined || control === null ? [] : [[control.id, { key, control }] as const];
      }),
    );
    const controls = [...keyed.values()].map(({ control }) => control);
    for (const { id } of dueReceipts(controls, readAt.current, now, most - busy.current)) {
      readAt.current.set(id, now);
      const key = keyed.get(id)?.key;
      if (key !== undefined) void read(key, id);
    }
  });
  useEffect(() => {
    const timer = setInterval(() => step(), stepMs);
    return () => clearInterval(timer);
  }, []);
  useEvents(['audit_alert'], (events) => {
    for (const { payload } of events) {
      if (typeof payload['control_id'] === 'string') readAt.current.delete(payload['control_id']);
    }
  });
}
