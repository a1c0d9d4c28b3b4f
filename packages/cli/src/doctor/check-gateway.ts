import { connect as connectTls } from 'node:tls';
import { bareHost, isLocalAddress } from '@reeve/contract/host-name';
import { isObject } from '../is-object.ts';
import { callerText } from '../http/caller-text.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { ProblemError } from '../http/problem-error.ts';
import { readText } from '../http/send.ts';
import { sendRoute } from '../http/send-route.ts';
import type { Finding } from './finding.ts';
import { failed, messageOf, ok, warning } from './finding.ts';

/** What is visible of the gateway from outside. */

export interface Reached {
  readonly findings: readonly Finding[];
  readonly isReachable: boolean;
}

const slowMs = 1000;
const skewedSecs = 30;

/** Whether the gateway answers, how fast, and whether its clock agrees. */
export async function checkReachable(client: GatewayClient, timeoutMs: number): Promise<Reached> {
  try {
    const started = performance.now();
    const answer = await sendRoute(client.apiUrl, 'healthz', {}, { timeoutMs });
    await readText(answer, timeoutMs);
    const took = Math.round(performance.now() - started);
    if (answer.status !== 200) {
      const finding = failed(
        'gateway',
        `${answer.url} answered ${answer.status}`,
        'Is that the URL of a gateway? Set it with --api-url.',
      );
      return { findings: [finding], isReachable: false };
    }
    const detail = `answers in ${took} ms`;
    const speed =
      took > slowMs
        ? warning('gateway', detail, 'It is slow: look at its load and the way to it.')
        : ok('gateway', detail);
    return { findings: [speed, checkClock(answer.headers.date, Date.now())], isReachable: true };
  } catch (error) {
    const finding = failed('gateway', messageOf(error), 'Start it with "reeve serve", or set --api-url.');
    return { findings: [finding], isReachable: false };
  }
}

export function checkClock(date: string | undefined, now: number): Finding {
  const theirs = Date.parse(date ?? '');
  if (Number.isNaN(theirs))
    return warning(
      'clock',
      'the gateway does not say what time it is',
      'Is there a proxy that removes the header "Date"?',
    );
  const skew = Math.round((theirs - now) / 1000);
  const detail =
    Math.abs(skew) <= 1
      ? 'agrees with the gateway’s'
      : `${Math.abs(skew)} s ${skew > 0 ? 'behind' : 'ahead of'} the gateway’s`;
  return Math.abs(skew) > skewedSecs
    ? warning('clock', detail, 'Let both machines follow NTP: expiry is judged by the clock.')
    : ok('clock', detail);
}

/** Whether each part of the gateway is ready, and its version. */
export async function checkReadiness(client: GatewayClient, version: string): Promise<Finding[]> {
  try {
    const answer = await client.call('readyz', {});
    const parts = Object.entries(answer.parts ?? {}).map(([name, part]) => partFinding(name, part));
    return [...parts, versionFinding(answer.version, version)];
  } catch (error) {
    const parts = error instanceof ProblemError ? error.problem.members['parts'] : undefined;
    const failing = isObject(parts) ? Object.entries(parts).map(([name, part]) => partFinding(name, part)) : [];
    return [failed('readiness', messageOf(error), 'Look at the log of the gateway.'), ...failing];
  }
}

function partFinding(name: string, part: unknown): Finding {
  const { status, detail } = isObject(part) ? part : { status: 'failing', detail: '' };
  const words = typeof detail === 'string' ? detail : '';
  if (status === 'ok') return ok(name, words === '' ? 'in order' : words);
  const advice = `See the gateway's log about its ${name}.`;
  return status === 'degraded' ? warning(name, words, advice) : failed(name, words, advice);
}

function versionFinding(theirs: string, ours: string): Finding {
  if (theirs === ours) return ok('version', `${ours}, as the gateway`);
  return warning(
    'version',
    `this is ${ours}, the gateway is ${theirs}`,
    'Use the same version: some commands may not fit.',
  );
}

const dayMs = 86_400_000;
const soonDays = 21;

/** Whether traffic is encrypted, and how long the certificate is valid. */
export async function checkTls(apiUrl: string): Promise<Finding> {
  const url = new URL(apiUrl);
  if (url.protocol === 'http:') {
    if (isLocalAddress(url.host)) return ok('tls', 'not needed on this machine itself');
    return warning(
      'tls',
      'the credential travels unencrypted',
      'Set SVC_TLS_CERT and SVC_TLS_KEY at the gateway, and use https://.',
    );
  }
  try {
    const validTo = await certificateEnd(url);
    const days = Math.floor((validTo.getTime() - Date.now()) / dayMs);
    const detail = `the certificate is good for ${days} more days`;
    return days < soonDays ? warning('tls', detail, 'Renew it.') : ok('tls', detail);
  } catch (error) {
    return failed('tls', messageOf(error), 'Mend the certificate, or name its authority in NODE_EXTRA_CA_CERTS.');
  }
}

function certificateEnd({ hostname, port }: URL): Promise<Date> {
  const host = bareHost(hostname);
  return new Promise((resolve, reject) => {
    const socket = connectTls({
      host,
      port: port === '' ? 443 : Number(port),
      ...(/[a-z]/i.test(host) ? { servername: host } : {}),
    });
    socket.setTimeout(10_000, () => socket.destroy(new Error('no answer to TLS')));
    socket.once('error', reject);
    socket.once('secureConnect', () => {
      resolve(new Date(socket.getPeerCertificate().valid_to));
      socket.destroy();
    });
  });
}

/** The identity that the gateway sees. */
export async function checkCredential(
  client: GatewayClient,
): Promise<{ finding: Finding; isAdmin: boolean; isBound: boolean }> {
  try {
    const me = await client.call('me', {});
    const finding = ok('credential', callerText(me));
    return { finding, isAdmin: me.scopes.includes('admin'), isBound: me.org_id !== null };
  } catch (error) {
    return { finding: failed('credential', messageOf(error), 'Run "reeve login".'), isAdmin: false, isBound: true };
  }
}
