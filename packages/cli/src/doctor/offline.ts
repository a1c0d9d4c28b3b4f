import type { ExplainedEntry, ExplainedWorkload } from '@reeve/gateway/offline-workloads';

/**
 * The doctor asks the gateway's own code as which agent a token counts. A second implementation would disagree some day. It
 * is loaded only here, and only when somebody asks.
 */

export type { ExplainedEntry };

export async function explainOffline(path: string, token: string): Promise<ExplainedWorkload> {
  const { explainWorkload } = await import('@reeve/gateway/offline-workloads');
  return explainWorkload(path, token);
}
