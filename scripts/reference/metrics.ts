import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { code, page, table } from './page.ts';

/** The labels and the meaning of each metric. */
const metrics: Readonly<Record<string, readonly [labels: readonly string[], meaning: string]>> = {
  reeve_decisions_total: [
    ['outcome', 'tier'],
    'Answers to checks. `outcome` is `allow`, `deny` or `pending`. `tier` says what decided: `identity` for a refused claim, `control` for a check in a run that somebody has stopped, `global`, `org`, `team` or `agent` for a rule of such a document, `default`, `budget`, or `replay` for a check of a known operation.',
  ],
  reeve_decision_seconds: [[], 'From the start of judging a check until its entry is durable.'],
  reeve_store_commit_seconds: [[], 'Making one turn of the event loop durable, failed attempts included.'],
  reeve_store_commit_failures_total: [[], 'Turns that could not be made durable. All their calls failed.'],
  reeve_ops: [['state'], 'Operations in the registry, including ended ones that are not swept yet.'],
  reeve_agents: [[], 'Registered agents, suspended ones included.'],
  reeve_audit_seq: [[], 'The number of the newest audit entry.'],
  reeve_audit_unpacked_entries: [
    [],
    'Audit entries that are old enough to be packed into compressed blocks, and are not yet. Fewer than 128 wait for a block to be full. No sample where nothing is packed (PostgreSQL, `memory:`).',
  ],
  reeve_audit_index_lag_entries: [[], 'Audit entries that are not indexed yet. Reading still finds them, one by one.'],
  reeve_websocket_clients: [[], 'Open [event streams](events.md) over WebSockets.'],
  reeve_sse_clients: [[], 'Open event streams as Server-Sent Events.'],
  reeve_events_sent_total: [[], 'Events sent. Each counts once for every stream that got it.'],
  reeve_events_dropped_total: [
    [],
    'Events not sent because the gateway closed streams that read too slowly. Their clients can resume.',
  ],
  reeve_evaluations_ended_total: [
    ['why'],
    'Evaluations of callers’ texts (validate, simulate, test, backtest, explain, put) that were ended: `deadline` after `SVC_EVALUATION_SECS`, `memory` for lack of memory or stack, `crash` if the thread ended by itself.',
  ],
  reeve_event_streams_ended_total: [
    ['reason'],
    'Event streams that the gateway has ended. `reason` is `slow`, `silent` (a ping was not answered), `credential` or `drain`.',
  ],
  reeve_controls_total: [
    ['action', 'status'],
    'Steps of controls. Each receipt counts once for every `status` that it reaches. `action` is `pause`, `resume` or `terminate`.',
  ],
  reeve_control_seconds: [
    ['action', 'stage'],
    'From the request of a control until the agent first acknowledges it (`stage` is `acked`) and until it says that it took effect (`effective`): the time to stop.',
  ],
  reeve_policy_observed_total: [
    ['effect'],
    'Decisions that a document with `mode: observe` would have made differently. `effect` is that of its strongest matching rule. The audit entries name the documents.',
  ],
  reeve_approvals_total: [
    ['outcome'],
    'Approvals. Each counts once as `requested`, and once by its outcome: `approved`, `rejected`, `expired` or `cancelled`.',
  ],
  reeve_approval_wait_seconds: [['outcome'], 'From the request of an approval until it was decided.'],
  reeve_approvals_open: [[], 'Actions that wait for an approval.'],
  reeve_webhook_deliveries_total: [
    ['type', 'outcome'],
    'Attempts to call the webhook of approvals. `type` is `approval.requested` or `approval.decided`. `outcome` is `delivered`, `refused` (not sent again) or `failed` (sent again).',
  ],
  reeve_reservations_released_total: [
    [],
    'Reservations of budgets that were released because the agent was silent for `SVC_RESERVATION_LEASE_SECS`.',
  ],
  reeve_ops_expired_total: [
    [],
    'Operations terminated because they were registered and not checked within `SVC_OPS_PENDING_TTL_SECS`.',
  ],
  reeve_control_streams: [[], 'Open control streams of agents.'],
  reeve_suspensions: [[], 'Suspensions of orgs, of teams and of everything in force. Every check in them is denied.'],
  reeve_held_runs: [[], 'Runs that a control holds. What they ask further is refused, until somebody resumes them.'],
  reeve_held_runs_of_one_binding: [
    [],
    'The most runs that credentials with one binding hold. They may hold 10,000, and one credential 5,000; beyond that, a further one is refused.',
  ],
  reeve_store_wal_bytes: [
    [],
    'The length of the embedded store’s write-ahead log. Under load it grows to about 200 MB and begins anew. Without a sample on other stores.',
  ],
  reeve_http_requests_total: [
    ['route', 'status'],
    'Answers over HTTP. `route` is the pattern of the path, as in `/api/v1/agents/:org/:team/:agent`, or `unknown`.',
  ],
  reeve_http_request_seconds: [[], 'Answering over HTTP, all routes together.'],
  reeve_unread_total: [
    [],
    'Stored rows, and steps of other gateways, that could not be read. Each takes those out of service whom it concerns, at this gateway until its next start; its log names them.',
  ],
  reeve_auth_failures_total: [
    [],
    'Calls over HTTP without a credential, or with a bad one. Calls over gRPC are not counted.',
  ],
  reeve_backup_last_success_timestamp_seconds: [
    [],
    'The moment that the last [backup](../operations/backup.md#watch-their-age) of the running gateway shows, in Unix time. It counts once its last byte has left, and survives restarts. Without a sample as long as no backup is known, and on PostgreSQL.',
  ],
  reeve_sign_ons_total: [['outcome'], 'Single sign-ons. `outcome` is `ok`, or the code of the [problem](problems.md).'],
  reeve_rate_limited_total: [['limit'], 'Calls refused by a rate limit. `limit` is `public` or `api`.'],
};

/** Those that only a gateway with NATS has. */
const clusterMetrics: readonly (readonly [name: string, type: string, labels: string, meaning: string])[] = [
  ['reeve_gateways', 'gauge', 'state', 'Gateways on the same database. `state` is `active`, `leaving` or `lost`.'],
  ['reeve_nats_connected', 'gauge', '', 'Whether NATS is reached: 1 or 0.'],
  ['reeve_cluster_leads', 'gauge', '', 'Whether this gateway does the work that one of them must do: 1 or 0.'],
  ['reeve_commits_followed_total', 'counter', '', 'Commits of other gateways that this one has followed.'],
  ['reeve_turns_repeated_total', 'counter', '', 'Turns that were done again because another gateway was first.'],
  ['reeve_nats_messages_dropped_total', 'counter', '', 'Messages on NATS that were forged, damaged or repeated.'],
];

/** Those that only a gateway with `SVC_FORWARD` has. */
const forwardMetrics: readonly (readonly [name: string, type: string, meaning: string])[] = [
  ['reeve_forward_lag_entries', 'gauge', 'Audit entries that a target does not have yet.'],
  ['reeve_forward_lag_seconds', 'gauge', 'The age of the oldest entry that a target does not have.'],
  ['reeve_forward_entries_total', 'counter', 'Entries sent, repetitions included.'],
  ['reeve_forward_failures_total', 'counter', 'Attempts that failed. Nothing is lost by them.'],
  ['reeve_forward_missed_entries_total', 'counter', 'Entries that retention removed before the target had them.'],
  ['reeve_forward_rejected_entries_total', 'counter', 'Entries that a receiver of OTLP threw away (partial success).'],
];

/** Every metric, as a freshly started gateway reports them. Fails if the table above differs. */
export async function metricsPage(): Promise<string> {
  const types = await metricTypes();
  const own = [...types.keys()].filter((name) => name.startsWith('reeve_'));
  const untold = own.filter((name) => metrics[name] === undefined);
  const gone = Object.keys(metrics).filter((name) => !types.has(name));
  if (untold.length > 0 || gone.length > 0) {
    throw new Error(
      `scripts/reference/metrics.ts: not described: ${untold.join()}; not there any more: ${gone.join()}`,
    );
  }
  const rows = Object.entries(metrics).map(([name, [labels, meaning]]) => [
    code(name),
    types.get(name) ?? '',
    labels.map(code).join(', '),
    meaning,
  ]);
  return page(
    'Metrics',
    '`GET /metrics` answers in the text format of Prometheus, without a credential and without a limit. No label holds an org, an agent or anything else that a caller could make up.',
    table(['Metric', 'Type', 'Labels', 'Meaning'], rows),
    'A gateway with `SVC_NATS_URL` also has these:',
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      clusterMetrics.map(([name, type, label, meaning]) => [
        code(name),
        type,
        label === '' ? '' : code(label),
        meaning,
      ]),
    ),
    'A gateway with `SVC_FORWARD` also has these. `target` is the place in that setting, from 1; `kind` is `otlp`, `syslog`, `https` or `file`.',
    table(
      ['Metric', 'Type', 'Labels', 'Meaning'],
      forwardMetrics.map(([name, type, meaning]) => [code(name), type, '`target`, `kind`', meaning]),
    ),
    'A histogram has `_bucket`, `_sum` and `_count`. There are also the metrics of the process, `process_…` and `nodejs_…`, as prom-client names them.',
    '[Operations](../operations.md#metrics) says what to alert on.',
  );
}

/** The type of each metric of a freshly started gateway. */
async function metricTypes(): Promise<ReadonlyMap<string, string>> {
  const args = ['serve', '--database', 'memory:', '--policy', 'examples/policies'];
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SVC|OTEL)_/.test(name));
  const child = spawn('node_modules/.bin/reeve', [...args, '--http', '127.0.0.1:0', '--grpc', '127.0.0.1:0'], {
    env: Object.fromEntries(inherited),
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const ended = once(child, 'close').then(() => Promise.reject(new Error('the gateway did not start')));
  try {
    const line = once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text));
    const { http } = JSON.parse(await Promise.race([line, ended])) as { http: string };
    const text = await (await fetch(`${http}/metrics`)).text();
    return new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]));
  } finally {
    child.kill();
    await ended.catch(() => undefined);
  }
}
