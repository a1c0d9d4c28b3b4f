import { CheckResultResponse, decisionNames, JudgedPart } from '@reeve/contract';
import type { Decisions, ResultPorts } from '@reeve/core';
import { checkResult, invalid, toldReason } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import { decodeFromAgent } from './decode.ts';
import type { UnaryHandler } from './rpc.ts';

/** Judges what a call brought back, or what it is to ask a model. */
export function answerResult(decisions: Decisions, ports: ResultPorts): UnaryHandler {
  return async (bytes, call) => {
    const wire = await decodeFromAgent(decisions, 'CheckResultRequest', bytes);
    const part = partOf(wire.part);
    const answer = await checkResult(decisions, ports, {
      agentId: wire.agentId,
      token: wire.credentialToken,
      opId: wire.opId,
      result: wire.resultJson,
      isError: wire.isError,
      part,
    });
    call.credentialShown(readerOfAgent(wire.agentId));
    // It may be large, and the buffer that all answers share would keep that size.
    const message = CheckResultResponse.encode({
      decision: decisionNames.wireOf[answer.decision],
      reason: toldReason(answer.reason),
      policyRule: answer.policyRule,
      resultJson: answer.result,
      labels: [...answer.labels],
      part: wire.part,
    }).finish();
    return () => message;
  };
}

/** A part that is not known here is refused: its rules are not known either. */
function partOf(wire: JudgedPart | undefined): 'result' | 'prompt' {
  if (wire === undefined || wire === JudgedPart.JUDGED_PART_UNSPECIFIED) return 'result';
  if (wire === JudgedPart.PROMPT) return 'prompt';
  throw invalid('part', 'must be PROMPT (1), or left out for what the action brought back');
}
