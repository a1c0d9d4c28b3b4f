import type { Op } from '@reeve/core';
import type { Cluster, ClusterGateway } from './cluster.ts';
import type { Stage } from './deed.ts';
import type { KnownAgent, KnownOp } from './world.ts';

/** What scenes play on. */
export interface SceneStage extends Stage {
  readonly cluster: Cluster;
  /** Somebody does something at a gateway. */
  readonly does: (name: string, gateway: ClusterGateway, work: () => Promise<unknown>) => void;
  /** Time passes, and gateways listen. */
  readonly passes: (ms: number) => void;
  /** A gateway ends in the middle of all that it does, and another one starts in its place. */
  readonly restarts: (gateway: ClusterGateway) => Promise<void>;
}

/**
 * Several things that must meet for a fault to show, and that meet too rarely by themselves. A scene brings them about, where it
 * finds what it needs; what becomes of them, the judge says.
 */
export interface Scene {
  readonly name: string;
  readonly weight: number;
  readonly play: (stage: SceneStage) => Promise<void> | void;
}

/** Two gateways that serve, or nothing. */
export function drawTwo({ random, cluster }: SceneStage): readonly [ClusterGateway, ClusterGateway] | undefined {
  const up = cluster.gateways.filter(({ isUp, ground }) => isUp && ground.outOfReach.isNobody);
  if (up.length < 2) return undefined;
  const one = random.int(up.length);
  const [first, second] = [up[one], up[(one + 1 + random.int(up.length - 1)) % up.length]];
  return first === undefined || second === undefined ? undefined : [first, second];
}

/** Agents of one team with tokens. */
export function drawTeam({ random, world }: SceneStage): readonly KnownAgent[] {
  const { orgId, teamId } = world.agent(random).id;
  return teamOf(world.agents, orgId, teamId);
}

export function teamOf(agents: readonly KnownAgent[], org: string, team: string): readonly KnownAgent[] {
  return agents.filter(({ id, tokens, isLost }) => {
    return id.orgId === org && id.teamId === team && tokens.length > 0 && !isLost;
  });
}

/** What agents of the world run at a gateway. */
export function* runningAt(
  { gov }: ClusterGateway,
  agents: readonly KnownAgent[],
): Generator<KnownOp & { readonly op: Op }> {
  for (const agent of agents) {
    const known = gov.directory.find(agent.id);
    if (known === undefined || agent.tokens.length === 0 || agent.isLost) continue;
    for (const op of gov.ops.of(known)) if (op.state === 'running') yield { agent, opId: op.opId, op };
  }
}
