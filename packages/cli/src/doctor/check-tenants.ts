import type { GatewayClient } from '../http/gateway-client.ts';
import { counted } from '../output/duration.ts';
import { withProgress } from '../output/progress.ts';
import type { Shell } from '../shell.ts';
import type { Finding } from './finding.ts';
import { failed, messageOf, ok, skipped } from './finding.ts';

const name = 'tenants';

/** Creates two canary tenants and tests whether one can see or touch the other. */
export async function checkTenants(shell: Shell, client: GatewayClient, grpc: string): Promise<Finding> {
  const hasTls = client.apiUrl.startsWith('https:');
  // Large and rarely needed.
  const { GrpcAgents } = await import('./grpc-agents.ts');
  const { probeTenants } = await import('../tenant-probe/probe-tenants.ts');
  const { formatReport } = await import('../tenant-probe/format-report.ts');
  try {
    using agents = await GrpcAgents.open(grpc, hasTls);
    const credential = await client.credential();
    const probe = probeTenants({ baseUrl: client.apiUrl, fetch, adminCredential: credential ?? '', agents });
    const { findings, tried } = await withProgress(shell, (seconds) => `Probing tenants (${seconds} s)`, probe);
    if (findings.length === 0) return ok(name, `cannot see or touch each other: ${counted(tried.calls, 'call')} tried`);
    return failed(name, formatReport({ findings, tried }), 'Report this, and let no tenant in until it is mended.');
  } catch (error) {
    return skipped(name, `${grpc}: ${messageOf(error)}`, 'Name the gRPC address of the gateway with --grpc.');
  }
}

export function tenantsNotProbed(): Finding {
  return skipped(
    name,
    'not probed',
    'Run with --tenants: makes two canary orgs, tries every call, takes them away again; some minutes.',
  );
}

export function tenantsNeedAdmin(): Finding {
  return skipped(name, 'the credential does not suffice', 'Use one with the scope admin that is bound to no tenant.');
}
