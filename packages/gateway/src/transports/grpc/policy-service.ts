import type { CheckActionRequest, CompleteActionRequest } from '@reeve/contract';
import {
  BatchCheckResponse,
  CheckActionResponse,
  CompleteActionResponse,
  CompleteActionRequest_Outcome as WireOutcome,
  outcomeNames,
  paths,
  PreviewToolsResponse,
} from '@reeve/contract';
import type { Answer, CheckRequest, Decisions, Execute, OpUsage, Outcome, ResultPorts } from '@reeve/core';
import { checkAction, checkActions, invalid, previewTools, ReeveError, timestamp } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import type { Health } from '../../telemetry/health.ts';
import { answerResult } from './answer-result.ts';
import { checkStream } from './check-stream.ts';
import { checkRequestOf, checkResponseOf, isKnown } from './convert-check.ts';
import { decode, decodeFromAgent } from './decode.ts';
import { findCredential } from './find-credential.ts';
import { encode } from './message-writer.ts';
import type { RpcRoutes } from './rpc.ts';

export interface PolicyServiceOptions {
  readonly health: Health;
  /** Called for every answer, for the metrics. */
  readonly onAnswer: (answer: Answer) => void;
  /** What it takes to judge results. */
  readonly results: ResultPorts;
}

export function policyService(
  decisions: Decisions,
  execute: Execute,
  { health, onAnswer, results }: PolicyServiceOptions,
): RpcRoutes {
  return {
    findCredential: new Map([[paths.checkResult, findCredential(decisions)]]),
    unary: new Map([
      [
        paths.checkAction,
        (bytes, call) => {
          const request = checkRequestOf(decode('CheckActionRequest', bytes), decisions.mostActionMicros);
          return checkAction(decisions, request).then((answer) => {
            if (isKnown(answer)) call.credentialShown(readerOfAgent(request.agentId));
            onAnswer(answer);
            return encode(CheckActionResponse, checkResponseOf(answer));
          });
        },
      ],
      [
        paths.batchCheck,
        async (bytes, call) => {
          const { requests } = decode('BatchCheckRequest', bytes);
          const answers = await checkActions(
            decisions,
            requests.map((wire, index) => inBatch(wire, index, decisions.mostActionMicros)),
          );
          const known = answers.findIndex(isKnown);
          if (known >= 0) call.credentialShown(readerOfAgent(requests[known]?.agentId));
          for (const answer of answers) onAnswer(answer);
          return encode(BatchCheckResponse, { responses: answers.map(checkResponseOf) });
        },
      ],
      [paths.checkResult, answerResult(decisions, results)],
      [
        paths.completeAction,
        async (bytes, call) => {
          const wire = await decodeFromAgent(decisions, 'CompleteActionRequest', bytes);
          const op = await execute({
            kind: 'complete_action',
            agentId: wire.agentId,
            token: wire.credentialToken,
            opId: wire.opId,
            actualCostMicros: wire.actualCostMicros ?? null,
            usage: usageOf(wire),
            outcome: outcomeOf(wire),
            detail: wire.detail,
          });
          call.credentialShown(readerOfAgent(wire.agentId));
          return encode(CompleteActionResponse, {
            op: {
              opId: op.opId,
              state: op.state,
              registeredAt: timestamp(op.registeredAt),
              updatedAt: timestamp(op.updatedAt),
              agentId: op.agent,
            },
          });
        },
      ],
      [
        paths.previewTools,
        async (bytes, call) => {
          const wire = await decodeFromAgent(decisions, 'PreviewToolsRequest', bytes);
          const denied = await previewTools(decisions, {
            agentId: wire.agentId,
            token: wire.credentialToken,
            source: wire.toolSource,
            tools: wire.toolNames,
          });
          call.credentialShown(readerOfAgent(wire.agentId));
          return encode(PreviewToolsResponse, { denied: [...denied] });
        },
      ],
    ]),
    stream: new Map([[paths.checkStream, checkStream(decisions, health, onAnswer)]]),
  };
}

/** Null if the agent does not say how it ended. */
function outcomeOf({ outcome }: CompleteActionRequest): Outcome | null {
  if (outcome === WireOutcome.OUTCOME_UNSPECIFIED) return null;
  const name = outcomeNames.nameOf(outcome);
  if (name === undefined) throw invalid('outcome', 'must be SUCCEEDED (1), FAILED (2) or CANCELLED (3)');
  return name;
}

function usageOf(wire: CompleteActionRequest): OpUsage | null {
  const { inputTokens = null, outputTokens = null, cachedInputTokens = null } = wire;
  if (inputTokens === null && outputTokens === null && cachedInputTokens === null) return null;
  return { inputTokens, outputTokens, cachedInputTokens };
}

/** A malformed entry fails the whole batch before any is judged. The error names its index. */
function inBatch(wire: CheckActionRequest, index: number, mostMicros: number): CheckRequest {
  try {
    return checkRequestOf(wire, mostMicros);
  } catch (error) {
    if (!(error instanceof ReeveError)) throw error;
    throw new ReeveError(error.code, `requests[${index}].${error.message}`, error.facts);
  }
}
