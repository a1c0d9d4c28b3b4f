import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import type { ChainHead, Governance } from '@reeve/core';
import { messageOf } from '@reeve/core';
import { FileSink } from '../adapters/forward/file-sink.ts';
import { NdjsonSink } from '../adapters/forward/ndjson-sink.ts';
import { OtlpSink } from '../adapters/forward/otlp-sink.ts';
import { Poster } from '../adapters/forward/post.ts';
import { SyslogSink } from '../adapters/forward/syslog-sink.ts';
import { systemClock as clock } from '../adapters/system/system-clock.ts';
import type { ForwardTarget } from '../config/forward-target.ts';
import type { Position } from '../forwarding/forward-positions.ts';
import { Forwarder } from '../forwarding/forwarder.ts';
import { Forwarding } from '../forwarding/forwarding.ts';
import type { Sink } from '../forwarding/sink.ts';
import { StartError } from '../start-error.ts';
import { warnOfPlainTargets } from '../startup/warn-of-plain-targets.ts';
import type { CountersOf, ForwardCounters } from '../telemetry/forward-metrics.ts';
import { reportOn, tellOfRejected } from './forward-report.ts';
import type { OpenStore } from './opened-store.ts';
import type { WiringContext } from './wiring-context.ts';

/** How long a stop waits for targets to take the last entries. */
const graceMs = 2000;
const showEveryMs = 500;

/** Starts to forward, once the journal can tell what is durable. */
type StartForwarding = (gov: Pick<Governance, 'journal'>) => Forwarding;

/** A target, and where it was at the start. */
interface Placed {
  readonly target: ForwardTarget;
  readonly position: Position;
}

/**
 * Finds out where each target of the audit log is, before anything is written, so that a new one misses nothing of what
 * comes next. It closes after the journal, so that the last entries leave, too.
 */
export async function openForwarding(
  context: WiringContext,
  stored: OpenStore,
  head: ChainHead,
): Promise<StartForwarding | undefined> {
  const { config, logger, health, metrics, opened } = context;
  const targets = config.forward;
  if (targets === undefined) return undefined;
  warnOfPlainTargets(targets, logger);
  const ca = config.forwardCa === undefined ? undefined : readAuthorities(config.forwardCa);
  const placed: Placed[] = [];
  for (const target of targets) {
    const first = target.fromStart ? { seq: 0, hash: '' } : head;
    placed.push({ target, position: await stored.positions.open(target.key, first) });
  }
  let forwarding: Forwarding | undefined;
  let timer: NodeJS.Timeout | undefined;
  opened.defer(async () => {
    clearInterval(timer);
    await forwarding?.stop(graceMs);
  }, 'audit forwarding');
  return (gov) => {
    const countersOf = metrics.observeForwarding(() => forwarding?.lags ?? []);
    const made = forwardingTo(placed, { context, stored, gov, ca, countersOf });
    forwarding = made;
    const show = () => health.set('forward', made.state);
    show();
    timer = setInterval(show, showEveryMs);
    made.start();
    return made;
  };
}

interface Parts {
  readonly context: WiringContext;
  readonly stored: OpenStore;
  readonly gov: Pick<Governance, 'journal'>;
  readonly ca: readonly string[] | undefined;
  readonly countersOf: CountersOf;
}

function forwardingTo(placed: readonly Placed[], { context, stored, gov, ca, countersOf }: Parts): Forwarding {
  const { log, positions, membership } = stored;
  return new Forwarding(
    placed.map(({ target, position }, index) => {
      const counters = countersOf(index + 1, target.kind);
      const forwarder = new Forwarder({
        key: target.key,
        position,
        sink: sinkFor(target, context, ca, counters),
        log,
        positions,
        head: () => gov.journal.head,
        leads: () => membership?.leads ?? true,
        clock,
        random: Math.random,
        report: reportOn(context, gov, target, index + 1, counters),
      });
      return { kind: target.kind, forwarder };
    }),
  );
}

function sinkFor(
  target: ForwardTarget,
  context: WiringContext,
  ca: readonly string[] | undefined,
  counters: ForwardCounters,
): Sink {
  const { config, version, opened } = context;
  switch (target.kind) {
    case 'otlp':
      return new OtlpSink({
        poster: new Poster(target.url, target.authorization, ca),
        headers: config.forwardOtlpHeaders ?? {},
        version,
        instance: hostname(),
        onRejected: tellOfRejected(context, target, counters),
      });
    case 'https':
      return new NdjsonSink(new Poster(target.url, target.authorization, ca), config.forwardSecret ?? '');
    case 'syslog':
      return new SyslogSink({ ...target, ca }, hostname());
    case 'file': {
      const sink = new FileSink(target.path);
      const reopen = () => sink.reopen();
      process.on('SIGHUP', reopen);
      opened.defer(() => void process.off('SIGHUP', reopen), 'the signal to reopen files');
      return sink;
    }
  }
}

/** The certificates in a PEM file, one by one. */
function readAuthorities(file: string): readonly string[] {
  try {
    const found = readFileSync(file, 'utf8').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
    if (found.length === 0) throw new Error('it holds no certificate');
    return found.map((pem) => new X509Certificate(pem).toString());
  } catch (error) {
    throw new StartError(`SVC_FORWARD_CA: cannot use ${file}: ${messageOf(error)}`, 2);
  }
}
