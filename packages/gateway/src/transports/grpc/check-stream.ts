import type { CheckActionRequest as WireRequest } from '@reeve/contract';
import { CheckActionRequest, CheckActionResponse } from '@reeve/contract';
import type { Answer, Governance } from '@reeve/core';
import { checkAction, ReeveError } from '@reeve/core';
import type { Health } from '../../telemetry/health.ts';
import { checkRequestOf, checkResponseOf } from './convert-check.ts';
import { decode } from './decode.ts';
import { encode } from './message-writer.ts';
import type { StreamHandler } from './rpc.ts';

/**
 * A pipeline of checks. Each is judged as it arrives and answered once it is durable; as the journal commits in order,
 * so do the answers leave. A malformed entry is denied in its place, and the stream goes on.
 */
export function checkStream(gov: Governance, health: Health, onAnswer: (answer: Answer) => void): StreamHandler {
  return (stream) => {
    let waiting = 0;
    let ended = false;
    const endWhenDone = () => {
      if (waiting > 0) return;
      if (health.draining) stream.fail(new ReeveError('shutting_down', 'the gateway is shutting down'));
      else if (ended) stream.end();
    };
    const forget = health.onDrain(endWhenDone);
    return {
      message: (bytes) => {
        if (health.draining) return;
        waiting++;
        answer(gov, bytes).then(
          (decided) => {
            waiting--;
            onAnswer(decided);
            stream.send(encode(CheckActionResponse, checkResponseOf(decided)));
            endWhenDone();
          },
          (error: unknown) => stream.fail(error),
        );
      },
      ended: () => {
        ended = true;
        endWhenDone();
      },
      closed: () => forget(),
    };
  };
}

async function answer(gov: Governance, bytes: Uint8Array): Promise<Answer> {
  let wire: WireRequest;
  try {
    wire = decode(CheckActionRequest, bytes);
    return await checkAction(gov, checkRequestOf(wire));
  } catch (error) {
    if (!(error instanceof ReeveError) || error.code !== 'invalid_argument') throw error;
    await gov.journal.committed();
    return invalidRequest(error.message);
  }
}

function invalidRequest(problem: string): Answer {
  return {
    decision: 'deny',
    reason: `invalid request: ${problem}`,
    policyRule: '',
    tier: 'default',
    approvalId: '',
    latencyUs: 0,
    opId: '',
    opState: '',
  };
}
