import manifest from '../../package.json' with { type: 'json' };
import type { GlobalValues } from '../command-line/command.ts';
import { defineCommand } from '../command-line/command.ts';
import { flag, oneOf, text, texts } from '../command-line/values.ts';
import { activeContext, callableContext } from '../context/active-context.ts';
import { checkLoginKey } from '../doctor/check-login-key.ts';
import { checkCluster, clusterNeedsAdmin } from '../doctor/check-cluster.ts';
import { checkCredential, checkReachable, checkReadiness, checkTls } from '../doctor/check-gateway.ts';
import { brokenConfiguration, checkConfiguration, checkDisk, checkSession } from '../doctor/check-machine.ts';
import { checkLedger, ledgerNeedsAdmin } from '../doctor/check-ledger.ts';
import { checkTenants, tenantsNeedAdmin, tenantsNotProbed } from '../doctor/check-tenants.ts';
import { checkWorkload } from '../doctor/check-workload.ts';
import type { Finding } from '../doctor/finding.ts';
import { failed, messageOf, ok, skipped } from '../doctor/finding.ts';
import { clientFor } from '../http/connect.ts';
import type { GatewayClient } from '../http/gateway-client.ts';
import { cleanLines } from '../output/clean-text.ts';
import type { Colour } from '../output/colour.ts';
import { hasColours, paint } from '../output/colour.ts';
import { print } from '../output/print.ts';
import type { Shell } from '../shell.ts';
import { verdictText, verifyGateway } from './audit-verify.ts';

const skippable = ['disk', 'tls', 'chain', 'ledger'] as const;

export const doctorCommand = defineCommand({
  details: [
    'Looks at the configuration, the session, the key of logins to MCP servers, the disk, the way to the gateway, its clock, TLS, its stores and policies, the credential, the gateways that act as one, the audit chain and the ledger of budgets; each line is in order, or says what to do. Ends with 1 if something has failed.',
    '--tenants also makes two canary orgs, tries with every call of the API whether one can see or touch the other, and takes them away again; their entries stay in the audit log. It needs the scope admin, a credential bound to no tenant, and takes some minutes.',
    '--workload asks the file of workloads (--workloads, or SVC_WORKLOADS) about the token in a file: which entry takes it as which agent, and why others do not. It asks no gateway, and makes no other checks.',
    'Data: {healthy, findings: [{check, status: ok|warning|failed|skipped, detail, advice}]}.',
  ],
  args: {},
  options: {
    tenants: flag('Probe whether tenants are isolated.'),
    grpc: text('ADDRESS', 'Where gRPC answers, for --tenants. Default: the host of the URL, port 50051.'),
    workload: text('TOKEN_FILE', 'Explain as which agent the JWT in this file counts.'),
    workloads: text('FILE', 'The file of workloads, for --workload. Default: SVC_WORKLOADS.'),
    skip: texts('CHECK', `Leave out: ${skippable.join(', ')}; several by commas.`, { completes: skippable }),
  },
  examples: [
    ['reeve doctor', 'is everything in order?'],
    ['reeve doctor --skip chain', 'without reading the whole audit log'],
    ['reeve doctor --workload token.jwt --workloads workloads.yaml', 'as which agent does this token count?'],
    ['reeve doctor --tenants --grpc 127.0.0.1:50051', 'and are tenants apart?'],
  ],
  run: async ({ globals, options }, shell) => {
    const skip = options.skip.map((check) => oneOf(skippable, check, '--skip'));
    const findings: Finding[] = [];
    const { workload, workloads } = options;
    const examined =
      workload === undefined
        ? examine(shell, globals, { ...options, skip })
        : checkWorkload(shell, workload, workloads);
    for await (const finding of examined) {
      findings.push(finding);
      if (globals.output === 'table') shell.stdout.write(`${findingText(shell, finding)}\n`);
    }
    const healthy = findings.every(({ status }) => status !== 'failed');
    const count = (status: Finding['status']) => findings.filter((finding) => finding.status === status).length;
    const summary = `\n${count('ok')} in order, ${count('warning')} to look at, ${count('failed')} failed, ${count('skipped')} skipped.`;
    print(shell, globals.output, { healthy, findings }, () => summary);
    return healthy ? 0 : 1;
  },
});

interface Choice {
  readonly tenants: boolean;
  readonly grpc: string | undefined;
  readonly skip: readonly string[];
}

/** Yields findings one by one. */
async function* examine(shell: Shell, globals: GlobalValues, choice: Choice): AsyncGenerator<Finding> {
  let context: Awaited<ReturnType<typeof callableContext>>;
  try {
    context = await callableContext(shell, globals);
    yield await checkConfiguration(context);
  } catch (error) {
    yield brokenConfiguration(error);
    return;
  }
  yield checkSession(await activeContext(shell, globals));
  yield* await checkLoginKey(shell);
  if (!choice.skip.includes('disk')) yield checkDisk(context);
  if (!choice.skip.includes('tls')) yield await checkTls(context.apiUrl);
  const client = clientFor(shell, context, globals.timeout);
  const { findings, isReachable } = await checkReachable(client, globals.timeout * 1000);
  yield* findings;
  if (!isReachable) return;
  yield* await checkReadiness(client, manifest.version);
  const { finding, isAdmin, isBound } = await checkCredential(client);
  yield finding;
  if (finding.status !== 'ok') return;
  const isWhole = isAdmin && !isBound;
  yield isWhole ? await checkCluster(client) : clusterNeedsAdmin();
  if (!choice.skip.includes('chain')) yield await checkChain(shell, client, globals.timeout * 1000);
  if (!choice.skip.includes('ledger')) yield isWhole ? await checkLedger(client) : ledgerNeedsAdmin();
  if (!choice.tenants) yield tenantsNotProbed();
  else if (isWhole) yield await checkTenants(shell, client, choice.grpc ?? `${new URL(client.apiUrl).hostname}:50051`);
  else yield tenantsNeedAdmin();
}

async function checkChain(shell: Shell, client: GatewayClient, timeoutMs: number): Promise<Finding> {
  try {
    const verdict = await verifyGateway(shell, client, timeoutMs);
    const words = verdictText(verdict);
    if (verdict.result === 'unbroken') return ok('chain', words);
    if (verdict.result === 'broken') {
      return failed(
        'chain',
        words,
        'The log was tampered with or damaged: keep the store as it is, and compare with earlier exports.',
      );
    }
    return skipped('chain', words, 'Use a credential that is bound to no tenant.');
  } catch (error) {
    return failed('chain', messageOf(error), 'Look at the log of the gateway.');
  }
}

const marks: Readonly<Record<Finding['status'], readonly [string, Colour]>> = {
  ok: ['ok', 'green'],
  warning: ['look', 'yellow'],
  failed: ['FAILED', 'red'],
  skipped: ['skipped', 'dim'],
};

function findingText(shell: Shell, { check, status, detail, advice }: Finding): string {
  const [word, colour] = marks[status];
  const mark = hasColours(shell) ? paint(word.padEnd(8), colour) : word.padEnd(8);
  const line = `${check.padEnd(14)} ${cleanLines(detail)
    .replaceAll('\n', `\n${' '.repeat(24)}`)
    .trimEnd()}`;
  return `${mark} ${line}${advice === '' ? '' : `\n${' '.repeat(24)}${advice}`}`;
}
