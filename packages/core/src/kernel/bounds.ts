import { invalid } from './errors.ts';

/** How long texts may be, in UTF-16 code units. The contract says so, and a test holds these equal to its table. */
export const longest = {
  /** What one thing is called: a tool, its source, a model, a host, a protocol, an operation, a framework, a name. */
  name: 512,
  /** What is written out: a path, a command with its arguments, a URL, a summary, a reason, a detail. */
  text: 8192,
  /** What an agent is told as a reason. */
  toldReason: 1024,
  runId: 128,
  credentialToken: 512,
  version: 128,
} as const;

/** A page of a list holds so many bytes: it has fewer items than asked for where more would pass this, though one at least. */
export const mostBytesOfPage = 4 * 1024 * 1024;

/** Arguments and results of more bytes than this, as they were sent, are kept by their length and digest. */
export const mostBytesOfArguments = 16 * 1024;

/** Refuses a text that is longer than it may be, in UTF-16 code units. */
export function checkLength(field: string, text: string, most: number): void {
  if (text.length > most) throw invalid(field, `must be at most ${most} characters`);
}
