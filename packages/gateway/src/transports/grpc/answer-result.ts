import { CheckResultResponse, decisionNames } from '@reeve/contract';
import type { Decisions, ResultPorts } from '@reeve/core';
import { checkResult, toldReason } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import { decodeFromAgent } from './decode.ts';
import type { UnaryHandler } from './rpc.ts';

/** Judges what a call brought back. */
export function answerResult(decisions: Decisions, ports: ResultPorts): UnaryHandler {
  return async (bytes, call) => {
    const wire = await decodeFromAgent(decisions, 'CheckResultRequest', bytes);
    const answer = await checkResult(decisions, ports, {
      agentId: wire.agentId,
      token: wire.credentialToken,
      opId: wire.opId,
      result: wire.resultJson,
      isError: wire.isError,
    });
    call.credentialShown(readerOfAgent(wire.agentId));
    // It may be large, and the buffer that all answers share would keep that size.
    const message = CheckResultResponse.encode({
      decision: decisionNames.wireOf[answer.decision],
      reason: toldReason(answer.reason),
      policyRule: answer.policyRule,
      resultJson: answer.result,
      labels: [...answer.labels],
    }).finish();
    return () => message;
  };
}
