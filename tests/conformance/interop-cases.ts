import type { TestServer } from './test-server.ts';
import type { Tool } from './tools.ts';

/** The cases of the gRPC project's interoperability tests, by the names they have there. */
export const interopCases = [
  'empty_unary',
  'large_unary',
  'client_streaming',
  'server_streaming',
  'ping_pong',
  'empty_stream',
  'timeout_on_sleeping_server',
  'cancel_after_begin',
  'cancel_after_first_response',
  'status_code_and_message',
  'special_status_message',
  'custom_metadata',
  'unimplemented_method',
  'unimplemented_service',
] as const;
export type InteropCase = (typeof interopCases)[number];

/** Told the result of each case; undefined if it passed. */
export type Tell = (name: InteropCase, failure: string | undefined) => void;

export interface InteropClient {
  readonly name: string;
  /** Finds or builds the client. */
  prepare(say: (line: string) => void): Promise<Tool>;
  run(program: string, server: Pick<TestServer, 'port' | 'certificate'>, tell: Tell): Promise<void>;
}

/** The longest that a case may take before it counts as failed. */
export const caseWithinMs = 30_000;

/** The sizes that the project's own cases use. */
export const sizes = {
  largeRequest: 271_828,
  largeResponse: 314_159,
  requests: [27_182, 8, 1828, 45_904],
  responses: [31_415, 9, 2653, 58_979],
} as const;

export const specialMessage = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n';
