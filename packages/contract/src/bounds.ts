/**
 * The size limits of everything on the wire, in UTF-16 code units and items. Every schema takes its numbers from here.
 * The core repeats those it needs, and a test holds the two equal.
 */
export const bounds = {
  /** The name of one thing: a tool, its source, a model, a host, a protocol, an operation, a framework. */
  name: 512,
  /** Longer text: a path, a command with its arguments, a URL, a summary, a reason, a detail. */
  text: 8192,
  /** The reason that an agent receives. */
  toldReason: 1024,
  runId: 128,
  /** The id of an org, team or agent, and ids that the gateway makes. */
  id: 128,
  traceId: 128,
  /** The name of a document, prefixed with its org and team. */
  documentName: 3 * 128 + 2,
  /** `org/team/agent/trace:span`, with room for double percent-encoding by mistake. */
  opId: 700,
  /** The secret that an agent is registered with. */
  credentialToken: 512,
  /** A JWT: of the user for whom an agent acts, or as an agent may authenticate with. In bytes. */
  jwt: 16 * 1024,
  version: 128,
  metadata: { members: 64, name: 128, value: 1024 },
  toolNames: { items: 1000, together: 65_536 },
  delegation: { ttlSecs: 86_400, tools: 100, together: 8192 },
  /** What a tool's server says of it, in bytes. */
  annotations: 4096,
  /** A SHA-256 in hexadecimal digits. */
  sha256: 64,
  batch: 1000,
  /** A gRPC message, in bytes. JSON documents inside may fill it. */
  message: 4 * 1024 * 1024,
  /** What an action brought back, in bytes. */
  result: 16 * 1024 * 1024,
  /** A message that brings a result to be judged, in bytes, once its token is verified. */
  resultMessage: 17 * 1024 * 1024,
  /** An HTTP body, in bytes. */
  body: 1024 * 1024,
  /** A page of a list, in bytes. The page has fewer items than requested if more would exceed this. */
  page: 4 * 1024 * 1024,
  cursor: 512,
  label: 128,
  /** Labels of a run, or of an agent. */
  labels: 64,
  scopes: 8,
  eventTypes: 512,
  note: 1000,
  email: 1024,
  /** A new password, in composed characters (NFC). */
  password: { least: 12, most: 256 },
  ticket: 128,
  /** A path of the dashboard with its query, and the URL of a provider. */
  returnTo: 2048,
  idempotencyKey: 255,
  eventType: 64,
  searchText: 200,
  /** An RFC 3339 time, with as many digits of a second as anybody writes. */
  time: 64,
  /** Policies in YAML, to be stored or tried out: 2,000 rules of 250 characters. */
  policySource: 512 * 1024,
  cases: 512 * 1024,
  port: 65_535,
  int32: 2_147_483_647,
} as const;
