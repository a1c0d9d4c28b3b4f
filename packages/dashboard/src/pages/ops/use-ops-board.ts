import { useCallback, useEffect, useRef, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { eventStream } from '../../api/event-stream.ts';
import { useObservable } from '../../api/observable.ts';
import { useEvents } from '../../api/use-events.ts';
import { OpsBoard } from './ops-board.ts';
import type { Row } from './row-model.ts';

export interface Loading {
  readonly status: 'loading' | 'loaded' | 'failed';
  readonly read: number;
  readonly total: number | undefined;
  readonly error?: unknown;
}

const perPage = 1000;
const tickMs = 500;

export interface OpsList {
  readonly board: OpsBoard;
  /** What to draw. */
  readonly all: ReadonlyMap<string, Row>;
  readonly loading: Loading;
  readonly retry: () => void;
}

/** The operations, read once from start to end and then updated by events. After a gap they are read again. */
export function useOpsBoard(): OpsList {
  const [board] = useState(() => new OpsBoard(pacedFrames()));
  const [loading, setLoading] = useState<Loading>({ status: 'loading', read: 0, total: undefined });
  const reading = useRef<AbortController>(undefined);
  const all = useObservable(board.drawn);
  const read = useCallback(async () => {
    reading.current?.abort();
    const own = new AbortController();
    reading.current = own;
    setLoading((before) => ({ status: 'loading', read: 0, total: before.total }));
    try {
      await readAll(board, own.signal, (count, total) => setLoading({ status: 'loading', read: count, total }));
      setLoading({ status: 'loaded', read: board.size, total: undefined });
    } catch (error) {
      if (!own.signal.aborted) setLoading({ status: 'failed', read: board.size, total: undefined, error });
    }
  }, [board]);
  useEffect(() => {
    let isOver = false;
    // Changes during the reading arrive as events, so the stream must be open before.
    void eventStream.ready().then(() => {
      if (!isOver) void read();
    });
    const timer = setInterval(() => board.tick(Date.now()), tickMs);
    return () => {
      isOver = true;
      clearInterval(timer);
      reading.current?.abort();
      reading.current = undefined;
    };
  }, [board, read]);
  useEvents(
    ['ops_change', 'audit_alert'],
    (events) => board.events(events, Date.now()),
    () => {
      // The first connection resyncs too, just before the first reading begins.
      if (reading.current !== undefined) void read();
    },
  );
  return { board, all, loading, retry: () => void read() };
}

/** The next frame. After a slow frame it waits longer, so that most of the time is left to the person. */
function pacedFrames(): (draw: () => void) => void {
  let readyAt = 0;
  const run = (draw: () => void) => {
    const start = performance.now();
    draw();
    // The page is drawn in a microtask before this one.
    queueMicrotask(() => {
      const end = performance.now();
      readyAt = end + 2 * (end - start);
    });
  };
  return (draw) => {
    const waitMs = readyAt - performance.now();
    if (waitMs <= 16) requestAnimationFrame(() => run(draw));
    else setTimeout(() => requestAnimationFrame(() => run(draw)), waitMs);
  };
}

async function readAll(
  board: OpsBoard,
  signal: AbortSignal,
  onPage: (read: number, total: number) => void,
): Promise<void> {
  board.startReading();
  let count = 0;
  for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
    const query = { per_page: perPage, ...(cursor === undefined ? {} : { cursor }) };
    const page = await callRoute('listOps', { query }, { signal });
    signal.throwIfAborted();
    for (const op of page.items) board.tell(op, Date.now());
    count += page.items.length;
    cursor = page.next_cursor ?? undefined;
    onPage(count, page.total);
  }
  board.finishReading(Date.now());
}
