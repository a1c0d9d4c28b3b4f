import { check, nextOpWith, register } from './agent-deeds.ts';
import type { ClusterGateway } from './cluster.ts';
import type { tools } from './policies.ts';
import type { SceneStage } from './scene.ts';
import type { KnownAgent, KnownOp } from './world.ts';

/** How long a login lasts that ends soon. */
export const loginMs = 1000;

/** Limits of a delegation that covers what a scene does. */
export const coversScene = { ttlSecs: 600, tools: [] };

/** What a scene says in a check. It costs nothing and names no run unless the scene says so. */
interface Asked {
  readonly tool?: (typeof tools)[number];
  readonly cost?: number;
  readonly runId?: string;
}

/** An agent checks. Nothing but policies that people store denies that it reads. */
export function checkOf(
  stage: SceneStage,
  gateway: ClusterGateway,
  agent: KnownAgent,
  { tool = 'read', cost = 0, runId = '' }: Asked = {},
): KnownOp {
  const opId = nextOpWith(tool, agent);
  stage.does('check', gateway, () => check(stage, gateway, agent, { opId, cost, runId }));
  return { agent, opId };
}

/** Tokens that may have expired are replaced. */
export async function registerAgain(
  stage: SceneStage,
  gateway: ClusterGateway,
  agents: readonly KnownAgent[],
): Promise<void> {
  const { cluster, world } = stage;
  for (const agent of agents) stage.does('register', gateway, () => register(stage, gateway, agent, world.root));
  await cluster.finishes(gateway);
  await cluster.calm();
}
