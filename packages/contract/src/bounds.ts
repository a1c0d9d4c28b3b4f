/**
 * How long and how many the things of the wire may be, in UTF-16 code units and items. Every schema takes its numbers
 * from here; the core has those that it needs as well, and a test holds the two equal.
 */
export const bounds = {
  /** What one thing is called: a tool, its source, a model, a host, a protocol, an operation, a framework, a name. */
  name: 512,
  /** What is written out: a path, a command with its arguments, a URL, a summary, a reason, a detail. */
  text: 8192,
  /** What an agent is told as a reason. */
  toldReason: 1024,
  runId: 128,
  /** An org, team or agent, and the ids that the gateway makes. */
  id: 128,
  traceId: 128,
  /** A document's name with its org and team before it. */
  documentName: 3 * 128 + 2,
  /** `org/team/agent/trace:span`, with room for what is percent-encoded twice by mistake. */
  opId: 700,
  /** What an agent authenticates with. */
  credentialToken: 512,
  version: 128,
  metadata: { members: 64, name: 128, value: 1024 },
  toolNames: { items: 1000, together: 65_536 },
  batch: 1000,
  /** A message of gRPC, in bytes. Documents of JSON in it may fill it. */
  message: 4 * 1024 * 1024,
  /** A body of HTTP, in bytes. */
  body: 1024 * 1024,
  /** A page of a list, in bytes: it has fewer items than asked for where more would pass this. */
  page: 4 * 1024 * 1024,
  cursor: 512,
  label: 128,
  scopes: 8,
  eventTypes: 512,
  note: 1000,
  email: 1024,
  ticket: 128,
  idempotencyKey: 255,
  eventType: 64,
  searchText: 200,
  /** A time of RFC 3339, with as many digits of a second as anybody writes. */
  time: 64,
  policySource: 128 * 1024,
  candidate: 256 * 1024,
  cases: 512 * 1024,
  port: 65_535,
  int32: 2_147_483_647,
} as const;
