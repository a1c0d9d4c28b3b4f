import { isTokenRefused } from '@reeve/contract/names';
import type { Agent, Answer, ConnectionEvent, Reeve } from '@reeve/sdk';
import { ActionDeniedError, connect, OperationTerminatedError, ReeveError } from '@reeve/sdk';
import { attachedAgent } from '../agent-identity/attached-agent.ts';
import type { GrpcGateway } from '../agent-identity/grpc-gateway.ts';
import type { ResolveAgent } from '../agent-identity/resolve-agent.ts';
import { resolveAgent } from '../agent-identity/resolve-agent.ts';
import { CliError, UsageError } from '../cli-error.ts';
import { FloorError, floorExits } from './floor-error.ts';
import type { FlooredProgram } from './run-program.ts';

export interface Acting {
  readonly agent: Agent;
  readonly reeve: Reeve;
  readonly gateway: GrpcGateway;
}

/** The agent in whose name the program runs. Other processes may act as the same agent. */
export async function actAs(request: ResolveAgent, onConnection: (event: ConnectionEvent) => void): Promise<Acting> {
  let reeve: Reeve | undefined;
  const client = (gateway: GrpcGateway) => (reeve ??= connect(gateway));
  try {
    const resolved = await resolveAgent({ ...request, client });
    reeve = client(resolved.gateway);
    return { agent: await attachedAgent(reeve, resolved, { onConnection }), reeve, gateway: resolved.gateway };
  } catch (error) {
    reeve?.close();
    if (error instanceof UsageError) throw error;
    if (error instanceof CliError || error instanceof ReeveError) throw new FloorError(error.message, { cause: error });
    throw error;
  }
}

/** How far a program has come. */
export type Progress = Pick<FlooredProgram, 'hasBegun' | 'isWithdrawn'>;

/** How `reeve run` ends if the program did not run, or not to its own end. */
export function endOf(error: unknown, { hasBegun, isWithdrawn }: Progress): CliError | undefined {
  if (error instanceof OperationTerminatedError) {
    const because = error.reason === '' ? '' : `: ${error.reason}`;
    // No control has ended it, so its approval was rejected, or has expired.
    return hasBegun || error.controlId !== ''
      ? new CliError(`the program was terminated${because}`, { exitCode: floorExits.terminated, cause: error })
      : new CliError(`denied while it waited${because}`, { exitCode: floorExits.denied, cause: error });
  }
  if (error instanceof ActionDeniedError) {
    const { source, policyRule, decision, reason } = error.answer;
    const hasNoAnswer = source === 'sdk' || isTokenRefused(policyRule, reason);
    if (hasNoAnswer) return new FloorError(reason, { cause: error });
    const why = decision === 'pending' ? heldText(error.answer, isWithdrawn) : `denied by ${policyRule}: ${reason}`;
    return new CliError(why, { exitCode: floorExits.denied, cause: error });
  }
  return error instanceof ReeveError ? new FloorError(error.message, { cause: error }) : undefined;
}

function heldText({ approvalId, reason }: Answer, isWithdrawn: boolean): string {
  const what = approvalId ?? reason;
  return isWithdrawn
    ? `not approved in time (${what}); the request was withdrawn`
    : `still held (${what}); the request could not be withdrawn`;
}
