import type { EngineName } from './engine.ts';

/**
 * What h2spec sends: its own GET and POST requests, which are refused, or the same as calls of gRPC, which reach more of
 * an engine.
 */
export const requestKinds = ['http', 'grpc'] as const;
export type RequestKind = (typeof requestKinds)[number];

/** A test of h2spec that an engine does not pass, and why that is so. */
export interface Exception {
  readonly test: string;
  readonly engines: readonly EngineName[];
  readonly requests: readonly RequestKind[];
  readonly outcome: 'failed' | 'skipped';
  /** The result depends on which of two frames is read first. */
  readonly sometimesPasses?: true;
  readonly why: Allowed | Defect;
}

/** The sentence that allows the behaviour, and what it means here. */
export interface Allowed {
  readonly rfc: string;
  readonly sentence: string;
  readonly here: string;
}

/** No sentence allows it. Reeve's own engine has none of these. */
export interface Defect {
  readonly defect: string;
}

const both: readonly EngineName[] = ['reeve', 'grpc-js'];
const own: readonly EngineName[] = ['reeve'];
const grpcJs: readonly EngineName[] = ['grpc-js'];
const http: readonly RequestKind[] = ['http'];

const noContent: Allowed = {
  rfc: 'RFC 9113, section 8.1',
  sentence: 'zero or more DATA frames containing the message content',
  here: 'The test needs an answer with content. The library answers a request that is not gRPC with a status alone.',
};

const answeredEarly: Allowed = {
  rfc: 'RFC 9113, section 8.1',
  sentence:
    'A server can send a complete response prior to the client sending an entire request if the response does not depend on any portion of the request that has not been sent and received.',
  here: 'The request is not gRPC, so it is answered as soon as its header is read. What follows comes to a closed stream.',
};

const answeredAtMessage: Allowed = {
  rfc: answeredEarly.rfc,
  sentence: answeredEarly.sentence,
  here: 'The content before the wrong frame is no message of gRPC, so the call is answered as soon as it is read.',
};

const notConcurrent: Allowed = {
  rfc: 'RFC 9113, section 5.1.2',
  sentence:
    'Streams that are in the "open" state or in either of the "half-closed" states count toward the maximum number of streams that an endpoint is permitted to open.',
  here: 'The requests are not gRPC. Each is answered and its stream closed before the next one counts.',
};

const minimalProcessing: Allowed = {
  rfc: 'RFC 9113, section 5.1',
  sentence: 'An endpoint can perform this minimal processing for all streams that are in the "closed" state.',
  here: 'RFC 7540 asked for an error. Now frames on a closed stream may be taken apart and discarded.',
};

const noPriorities: Allowed = {
  rfc: 'RFC 9113, section 5.3.2',
  sentence: 'This update to HTTP/2 deprecates the priority signaling defined in RFC 7540.',
  here: 'A stream that depends on itself is an error in RFC 7540 alone. The frame is read and ignored.',
};

const endsConnection: Allowed = {
  rfc: 'RFC 9113, section 5.4.1',
  sentence:
    'An endpoint can end a connection at any time. In particular, an endpoint MAY choose to treat a stream error as a connection error.',
  here: 'The library ends the connection, where the test expects the stream alone to end, or the frame to be ignored.',
};

/** The exceptions that hold for these tests alike. */
function all(tests: readonly string[], rest: Omit<Exception, 'test'>): Exception[] {
  return tests.map((test) => ({ test, ...rest }));
}

const early = { requests: http, outcome: 'failed', sometimesPasses: true, why: answeredEarly } as const;
const always = { requests: requestKinds, outcome: 'failed' } as const;

/** Any other failure, and a pass of a test that is listed here, fails the run. */
export const exceptions: readonly Exception[] = [
  ...all(
    [
      'generic/2: Sends a WINDOW_UPDATE frame on half-closed (remote) stream',
      'generic/2: Sends a PRIORITY frame on half-closed (remote) stream',
    ],
    { engines: grpcJs, requests: http, outcome: 'failed', why: noContent },
  ),
  ...all(
    [
      'http2/6.5.3: Sends multiple values of SETTINGS_INITIAL_WINDOW_SIZE',
      'http2/6.9.1: Sends SETTINGS frame to set the initial window size to 1 and sends HEADERS frame',
      'http2/6.9.2: Changes SETTINGS_INITIAL_WINDOW_SIZE after sending HEADERS frame',
      'http2/6.9.2: Sends a SETTINGS frame for window size to be negative',
    ],
    { engines: grpcJs, requests: http, outcome: 'skipped', why: noContent },
  ),
  ...all(
    [
      'http2/8.1: Sends a second HEADERS frame without the END_STREAM flag',
      'http2/8.1.2.6: Sends a HEADERS frame with the "content-length" header field which does not equal the DATA frame payload length',
      'http2/5.1: half closed (remote): Sends a DATA frame',
      'http2/6.1: Sends a DATA frame with invalid pad length',
      'http2/8.1.2.6: Sends a HEADERS frame with the "content-length" header field which does not equal the sum of the multiple DATA frames payload length',
    ],
    { engines: grpcJs, ...early },
  ),
  ...all(
    [
      'http2/8.1: Sends a second HEADERS frame without the END_STREAM flag',
      'http2/8.1.2.1: Sends a HEADERS frame that contains a pseudo-header field as trailers',
    ],
    { engines: own, requests: ['grpc'], outcome: 'failed', sometimesPasses: true, why: answeredAtMessage },
  ),
  ...all(['http2/5.1.2: Sends HEADERS frames that causes their advertised concurrent stream limit to be exceeded'], {
    engines: grpcJs,
    requests: http,
    outcome: 'failed',
    why: notConcurrent,
  }),
  ...all(['http2/5.3.1: Sends PRIORITY frame that depend on itself'], { engines: both, ...always, why: noPriorities }),
  ...all(['http2/5.3.1: Sends HEADERS frame that depend on itself'], { engines: own, ...always, why: noPriorities }),
  ...all(
    [
      'http2/5.1: closed: Sends a DATA frame after sending RST_STREAM frame',
      'http2/5.1: closed: Sends a HEADERS frame after sending RST_STREAM frame',
      'http2/5.1: closed: Sends a DATA frame',
      'http2/5.1: closed: Sends a HEADERS frame',
    ],
    { engines: grpcJs, ...always, why: minimalProcessing },
  ),
  ...all(
    [
      'http2/6.7: Sends a PING frame with ACK',
      'http2/6.9.1: Sends multiple WINDOW_UPDATE frames increasing the flow control window to above 2^31-1 on a stream',
    ],
    { engines: grpcJs, ...always, why: endsConnection },
  ),
  ...all(['http2/5.1.1: Sends stream identifier that is numerically smaller than previous'], {
    engines: grpcJs,
    ...always,
    why: { defect: 'The HTTP/2 library of Node ignores a request on a lower stream, and keeps the connection.' },
  }),
  ...all(['http2/6.3: Sends a PRIORITY frame with 0x0 stream identifier'], {
    engines: grpcJs,
    ...always,
    why: { defect: 'The HTTP/2 library of Node ignores PRIORITY frames, even those on stream 0.' },
  }),
];
