import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { EnrollOptions } from '@reeve/sdk';
import { connect } from '@reeve/sdk';
import type { Shell } from '../../shell.ts';
import { variable } from '../../shell.ts';
import type { DemoAgentId } from '../demo-agent.ts';
import { pause } from '../demo-agent.ts';
import type { DemoLogin } from '../prepare-demo.ts';
import { writeCode } from './coding-agent.ts';
import { decideApprovals } from './colleague.ts';
import type { DoorPlace } from './door-process.ts';
import { callModels } from './model-agent.ts';
import { useTools } from './tool-agent.ts';

export interface DoorStage {
  readonly shell: Pick<Shell, 'env'>;
  readonly http: string;
  readonly grpc: string;
  /** One key for the agents of each org. */
  readonly keyOf: ReadonlyMap<string, string>;
  /** Who decides what the agents wait for. */
  readonly colleague: DemoLogin;
  /** An empty place, removed at the end. */
  readonly folder: string;
  readonly signal: AbortSignal;
  readonly tell: (line: string) => void;
}

interface DoorRole {
  readonly agent: EnrollOptions & DemoAgentId;
  readonly act: (place: DoorPlace, token: string, signal: AbortSignal) => Promise<void>;
}

/** One agent behind each door. None of them knows the SDK. */
const roles: readonly DoorRole[] = [
  {
    agent: { orgId: 'demo-acme', teamId: 'support', agentId: 'help-desk', name: 'Help desk', framework: 'mcp' },
    act: useTools,
  },
  {
    agent: { orgId: 'demo-initech', teamId: 'growth', agentId: 'campaigner', name: 'Campaigner', framework: 'openai' },
    act: callModels,
  },
  {
    agent: { orgId: 'demo-globex', teamId: 'platform', agentId: 'coder', name: 'Coder', framework: 'claude-code' },
    act: writeCode,
  },
];

/** The little that programs need of the environment. */
const inherited = ['PATH', 'LANG', 'TMPDIR', 'SystemRoot'];
const restSeconds = 10;

/** Lets the agents behind the doors work until the signal, each in processes of its own that end with it. */
export async function playDoors(stage: DoorStage): Promise<void> {
  const { shell, grpc, http, colleague, signal } = stage;
  const home = join(stage.folder, 'home');
  mkdirSync(home, { recursive: true });
  const kept = inherited.map((name) => [name, variable(shell, name)] as const).filter(([, value]) => value);
  const env = { ...Object.fromEntries(kept), HOME: home, REEVE_GRPC_ADDR: grpc } as DoorPlace['env'];
  const place = { folder: stage.folder, env };
  const agentIds = roles.map(({ agent }) => agent.agentId);
  await Promise.all([
    ...roles.map((role) => keepPlaying(role, place, stage)),
    decideApprovals(http, colleague, agentIds, signal),
  ]);
}

/** A door that fails is opened again after a while. The other agents do not notice. */
async function keepPlaying({ agent, act }: DoorRole, place: DoorPlace, stage: DoorStage): Promise<void> {
  const { grpc: address, keyOf, signal, tell } = stage;
  while (!signal.aborted) {
    try {
      using reeve = connect({ address, apiKey: keyOf.get(agent.orgId) ?? '' });
      const { token } = await reeve.enroll({ ...agent, version: '1.0', metadata: { demo: 'true' } });
      await act(place, token, signal);
    } catch (error) {
      if (signal.aborted) return;
      tell(`${agent.agentId} begins anew: ${error instanceof Error ? error.message : String(error)}`);
      await pause(restSeconds, signal);
    }
  }
}
