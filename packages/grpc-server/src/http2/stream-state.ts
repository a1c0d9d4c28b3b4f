/**
 * RFC 9113 figure 2, as a server that never pushes sees it. `recv` and `send` are of this side; ES is a frame with the
 * END_STREAM flag, R is RST_STREAM.
 */
export type StreamState = 'idle' | 'open' | 'halfClosedRemote' | 'halfClosedLocal' | 'closed';

type StreamEvent = 'recv H' | 'recv ES' | 'send ES' | 'recv R' | 'send R';

export const nextState = {
  idle: { 'recv H': 'open' },
  open: { 'recv ES': 'halfClosedRemote', 'send ES': 'halfClosedLocal', 'recv R': 'closed', 'send R': 'closed' },
  halfClosedRemote: { 'send ES': 'closed', 'recv R': 'closed', 'send R': 'closed' },
  halfClosedLocal: { 'recv ES': 'closed', 'recv R': 'closed', 'send R': 'closed' },
  closed: {},
} as const satisfies Record<StreamState, Partial<Record<StreamEvent, StreamState>>>;

/** What the receipt of a frame in a state means: it is taken, discarded, or an error of the stream or the connection. */
type Verdict = 'take' | 'discard' | 'STREAM_CLOSED of the stream' | 'STREAM_CLOSED' | 'PROTOCOL_ERROR';

type StreamFrame = 'headers' | 'data' | 'rstStream' | 'windowUpdate';

/** How a closed stream came to be closed decides what may still be on its way (RFC 9113 §5.1, "closed"). */
export type FrameState = 'idle' | 'open' | 'halfClosedRemote' | 'ended' | 'resetByUs' | 'forgotten';

/**
 * PRIORITY is taken in every state and therefore not in the table. `ended` is a stream that both sides ended, or that
 * the peer reset. `forgotten` is a stream that was closed so long ago, or never used, that nobody knows how.
 */
export const verdictOn = {
  idle: { headers: 'take', data: 'PROTOCOL_ERROR', rstStream: 'PROTOCOL_ERROR', windowUpdate: 'PROTOCOL_ERROR' },
  open: { headers: 'take', data: 'take', rstStream: 'take', windowUpdate: 'take' },
  halfClosedRemote: {
    headers: 'STREAM_CLOSED of the stream',
    data: 'STREAM_CLOSED of the stream',
    rstStream: 'take',
    windowUpdate: 'take',
  },
  ended: { headers: 'STREAM_CLOSED', data: 'STREAM_CLOSED', rstStream: 'discard', windowUpdate: 'discard' },
  resetByUs: { headers: 'discard', data: 'discard', rstStream: 'discard', windowUpdate: 'discard' },
  forgotten: { headers: 'PROTOCOL_ERROR', data: 'discard', rstStream: 'discard', windowUpdate: 'discard' },
} as const satisfies Record<FrameState, Record<StreamFrame, Verdict>>;
