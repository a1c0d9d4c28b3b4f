import type { CheckResultRequest } from '@reeve/contract';
import { CheckResultResponse, Decision, decisionNames, JudgedPart, StreamedPlace } from '@reeve/contract';
import type { Decisions, ResultPorts, StreamedRequest } from '@reeve/core';
import { checkResult, invalid, judgeStreamed, toldReason } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import { decodeFromAgent } from './decode.ts';
import type { UnaryHandler } from './rpc.ts';

/** Judges what a call brought back, or what it is to ask a model. */
export function answerResult(decisions: Decisions, ports: ResultPorts): UnaryHandler {
  return async (bytes, call) => {
    const wire = await decodeFromAgent(decisions, 'CheckResultRequest', bytes);
    if (wire.part === JudgedPart.STREAMED) {
      const piece = await streamedAnswer(decisions, ports, wire);
      call.credentialShown(readerOfAgent(wire.agentId));
      return () => piece;
    }
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
      taken: undefined,
    }).finish();
    return () => message;
  };
}

/** A piece of an answer that is still coming. */
async function streamedAnswer(
  decisions: Decisions,
  ports: ResultPorts,
  { agentId, credentialToken: token, opId, resultJson: piece, part, place }: CheckResultRequest,
): Promise<Uint8Array> {
  const { taken, masked } = await judgeStreamed(decisions, ports, {
    ...{ agentId, token, opId, piece },
    place: placeOf(place),
  });
  const nothingSaid = { reason: '', policyRule: '', labels: [] };
  return CheckResultResponse.encode({
    ...nothingSaid,
    decision: Decision.ALLOW,
    resultJson: masked,
    part,
    taken,
  }).finish();
}

function placeOf(wire: StreamedPlace | undefined): StreamedRequest['place'] {
  switch (wire) {
    case undefined:
    case StreamedPlace.STREAMED_PLACE_UNSPECIFIED:
      return 'value';
    case StreamedPlace.TEXT_START:
      return 'text';
    case StreamedPlace.LINE_START:
      return 'line';
    case StreamedPlace.WITHIN_LINE:
      return 'within';
    default:
      throw invalid(
        'place',
        'must be TEXT_START (1), LINE_START (2) or WITHIN_LINE (3), or left out for a whole value',
      );
  }
}

/** A part that is not known here is refused: its rules are not known either. */
function partOf(wire: JudgedPart | undefined): 'result' | 'prompt' {
  if (wire === undefined || wire === JudgedPart.JUDGED_PART_UNSPECIFIED) return 'result';
  if (wire === JudgedPart.PROMPT) return 'prompt';
  throw invalid('part', 'must be PROMPT (1) or STREAMED (2), or left out for what the action brought back');
}
