import type { Answer, ApprovalEvent, Decision, Approvals, Receipt } from '@reeve/core';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { backupMetrics } from './backup-metrics.ts';
import type { CountersOf } from './forward-metrics.ts';
import { forwardMetrics } from './forward-metrics.ts';
import type { TargetLag } from './health.ts';
import { registerGauge } from './gauge.ts';
import { LatencyHistogram } from './latency-histogram.ts';
import type { ObservedStore } from './state-metrics.ts';
import { stateMetrics } from './state-metrics.ts';

const fast = [0.000_05, 0.0001, 0.000_25, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1];
const patient = [1, 5, 10, 30, 60, 120, 300, 600, 1800, 3600, 14_400, 86_400];
const slow = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

const memberStates = ['active', 'leaving', 'lost'] as const;

/** What metrics read of several gateways. */
export interface ObservedCluster {
  readonly journal: { readonly followed: number; readonly repeated: number };
  readonly bus: { readonly isConnected: boolean; readonly dropped: number };
  readonly members: () => readonly { readonly state: (typeof memberStates)[number] }[];
  readonly leads: () => boolean;
}

/** The metrics of the gateway. On the decision path a count is an addition in memory; text is made on request. */
export class Metrics {
  readonly #registry = new Registry();
  readonly #decisions = new Map<string, { readonly outcome: Decision; readonly tier: string; count: number }>();
  readonly #decisionSeconds = new LatencyHistogram(
    'reeve_decision_seconds',
    'From the arrival of a check to its answer.',
    fast,
  );
  readonly #commitSeconds = new LatencyHistogram(
    'reeve_store_commit_seconds',
    'Making one turn of the event loop durable.',
    fast,
  );
  readonly #httpSeconds = new LatencyHistogram('reeve_http_request_seconds', 'Answering HTTP requests.', slow);
  readonly #commitFailures = this.#counter(
    'reeve_store_commit_failures_total',
    'Turns that could not be made durable.',
  );
  readonly #unread = this.#counter(
    'reeve_unread_total',
    'Stored rows, and steps of other gateways, that could not be read or followed.',
  );
  readonly #authFailures = this.#counter('reeve_auth_failures_total', 'Calls with no or a bad credential.');
  readonly #httpRequests = this.#counter('reeve_http_requests_total', 'HTTP requests.', 'route', 'status');
  readonly #controls = this.#counter('reeve_controls_total', 'Steps of controls.', 'action', 'status');
  readonly #controlSeconds = new Histogram({
    name: 'reeve_control_seconds',
    help: 'From the request of a control to what the agent says of it.',
    labelNames: ['action', 'stage'],
    buckets: slow,
    registers: [this.#registry],
  });
  readonly #approvals = this.#counter('reeve_approvals_total', 'Approvals by what became of them.', 'outcome');
  readonly #approvalSeconds = new Histogram({
    name: 'reeve_approval_wait_seconds',
    help: 'From the request of an approval to its end.',
    labelNames: ['outcome'],
    buckets: patient,
    registers: [this.#registry],
  });
  readonly #webhooks = this.#counter(
    'reeve_webhook_deliveries_total',
    'Attempts to tell the webhook of an approval.',
    'type',
    'outcome',
  );
  readonly #reservationsReleased = this.#counter(
    'reeve_reservations_released_total',
    'Reservations released because nothing was heard of their agents.',
  );
  readonly #opsExpired = this.#counter(
    'reeve_ops_expired_total',
    'Operations terminated because they were registered and never checked.',
  );
  readonly #eventsSent = this.#counter('reeve_events_sent_total', 'Events sent, to each stream on its own.');
  readonly #eventsDropped = this.#counter(
    'reeve_events_dropped_total',
    'Events not sent to streams that were closed because they were read too slowly.',
  );
  readonly #streamsEnded = this.#counter('reeve_event_streams_ended_total', 'Streams ended by the gateway.', 'reason');
  readonly #observed = this.#counter(
    'reeve_policy_observed_total',
    'Decisions that a document which is only observed would have made otherwise.',
    'effect',
  );
  readonly #evaluationsEnded = this.#counter(
    'reeve_evaluations_ended_total',
    'Evaluations of texts of callers that were ended before they were done.',
    'why',
  );
  readonly #signOns = this.#counter('reeve_sign_ons_total', 'Single sign-ons by what became of them.', 'outcome');
  readonly #limited = this.#counter('reeve_rate_limited_total', 'Calls refused for their number.', 'limit');

  constructor() {
    collectDefaultMetrics({ register: this.#registry });
    for (const histogram of [this.#decisionSeconds, this.#commitSeconds, this.#httpSeconds])
      histogram.register(this.#registry);
    const decisions = this.#decisions;
    const decisionsTotal = new Counter({
      name: 'reeve_decisions_total',
      help: 'Decisions by outcome and by the tier at which they fell.',
      labelNames: ['outcome', 'tier'],
      registers: [],
      collect() {
        this.reset();
        for (const { outcome, tier, count } of decisions.values()) this.inc({ outcome, tier }, count);
      },
    });
    this.#registry.registerMetric(decisionsTotal);
  }

  /** Reads the state of the gateway whenever the metrics are read. */
  observe(gov: Approvals, store: ObservedStore): void {
    stateMetrics(this.#registry, gov, store);
  }

  /** Reads how the gateways on one store work together. */
  observeCluster(cluster: ObservedCluster): void {
    const { journal, bus, members } = cluster;
    this.#gauge('reeve_nats_connected', 'Whether NATS is reached.', () => (bus.isConnected ? 1 : 0));
    this.#gauge('reeve_cluster_leads', 'Whether this gateway does the work that one of them must do.', () =>
      cluster.leads() ? 1 : 0,
    );
    this.#sum(
      'reeve_commits_followed_total',
      'Commits of other gateways that this one follows.',
      () => journal.followed,
    );
    this.#sum(
      'reeve_turns_repeated_total',
      'Turns done again because another gateway was first.',
      () => journal.repeated,
    );
    this.#sum(
      'reeve_nats_messages_dropped_total',
      'Messages that were forged, damaged or repeated.',
      () => bus.dropped,
    );
    const gateways = new Gauge({
      name: 'reeve_gateways',
      help: 'Gateways on the same database, by state.',
      labelNames: ['state'],
      registers: [this.#registry],
      collect: () => {
        for (const state of memberStates) {
          gateways.set({ state }, members().filter((member) => member.state === state).length);
        }
      },
    });
  }

  /** A counter that something else counts. */
  #sum(name: string, help: string, read: () => number): void {
    const counter = new Counter({
      name,
      help,
      registers: [this.#registry],
      collect: () => {
        counter.reset();
        counter.inc(read());
      },
    });
  }

  /** Reads how many event streams are open. */
  observeStreams(count: (format: 'websocket' | 'sse') => number): void {
    this.#gauge('reeve_websocket_clients', 'Open event streams over WebSockets.', () => count('websocket'));
    this.#gauge('reeve_sse_clients', 'Open event streams as Server-Sent Events.', () => count('sse'));
  }

  /** Reads when the last backup was made. */
  observeBackups(lastAt: () => number | null): void {
    backupMetrics(this.#registry, lastAt);
  }

  /** Reads how far the targets of the audit log are behind. */
  observeForwarding(lags: () => readonly TargetLag[]): CountersOf {
    return forwardMetrics(this.#registry, lags);
  }

  decided(answer: Answer): void {
    const name = `${answer.decision} ${answer.tier}`;
    const known = this.#decisions.get(name);
    if (known === undefined) this.#decisions.set(name, { outcome: answer.decision, tier: answer.tier, count: 1 });
    else known.count++;
    this.#decisionSeconds.observe(answer.latencyUs / 1e6);
    for (const { effect } of answer.observed) this.#observed.inc({ effect });
  }

  /** Counts a control that was requested or changed its status. */
  controlled(receipt: Receipt, before: Receipt | null): void {
    const { action, status, requestedAt, ackedAt, effectiveAt } = receipt;
    this.#controls.inc({ action, status });
    const since = (at: number) => Math.max(0, at - requestedAt) / 1000;
    if (ackedAt !== null && before?.ackedAt === null) {
      this.#controlSeconds.observe({ action, stage: 'acked' }, since(ackedAt));
    }
    if (effectiveAt !== null && before?.effectiveAt === null) {
      this.#controlSeconds.observe({ action, stage: 'effective' }, since(effectiveAt));
    }
  }

  /** Counts an approval that was requested or decided. */
  approvalChanged({ change, approval }: ApprovalEvent): void {
    if (change === 'verdict') return;
    this.#approvals.inc({ outcome: change });
    const { decidedAt, requestedAt } = approval;
    if (decidedAt === null) return;
    this.#approvalSeconds.observe({ outcome: change }, Math.max(0, decidedAt - requestedAt) / 1000);
  }

  webhookTried(type: string, outcome: string): void {
    this.#webhooks.inc({ type, outcome });
  }

  reservationReleased(): void {
    this.#reservationsReleased.inc();
  }

  opsExpired(count: number): void {
    this.#opsExpired.inc(count);
  }

  committed(seconds: number, failed: boolean): void {
    this.#commitSeconds.observe(seconds);
    if (failed) this.#commitFailures.inc();
  }

  answered(route: string, status: number, seconds: number): void {
    this.#httpRequests.inc({ route, status: String(status) });
    this.#httpSeconds.observe(seconds);
  }

  eventsSent(events: number): void {
    this.#eventsSent.inc(events);
  }

  eventsDropped(events: number): void {
    this.#eventsDropped.inc(events);
  }

  streamEnded(reason: string): void {
    this.#streamsEnded.inc({ reason });
  }

  unread(): void {
    this.#unread.inc();
  }

  authFailed(): void {
    this.#authFailures.inc();
  }

  evaluationEnded(why: string): void {
    this.#evaluationsEnded.inc({ why });
  }

  signedOn(outcome: string): void {
    this.#signOns.inc({ outcome });
  }

  limited(limit: string): void {
    this.#limited.inc({ limit });
  }

  text(): Promise<string> {
    return this.#registry.metrics();
  }

  #counter<Label extends string>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: [this.#registry] });
  }

  #gauge(name: string, help: string, value: () => number | Promise<number>): void {
    registerGauge(this.#registry, name, help, value);
  }
}
