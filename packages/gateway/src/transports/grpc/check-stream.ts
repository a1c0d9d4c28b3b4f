import { CheckActionResponse } from '@reeve/contract';
import type { Answer, Governance } from '@reeve/core';
import { checkAction, ReeveError } from '@reeve/core';
import type { Health } from '../../telemetry/health.ts';
import { checkRequestOf, checkResponseOf, isKnown } from './convert-check.ts';
import { decode } from './decode.ts';
import { encode } from './message-writer.ts';
import type { StreamHandler } from './rpc.ts';

/** The place of a request in its stream: answers leave in this order, whichever is ready first. */
interface Place {
  answer: Answer | undefined;
}

/**
 * A pipeline of checks. Each is judged as it arrives and answered once it is durable and all before it are answered. A
 * malformed entry is denied in its place, and the stream goes on.
 */
export function checkStream(gov: Governance, health: Health, onAnswer: (answer: Answer) => void): StreamHandler {
  return (stream, call) => {
    const places: Place[] = [];
    let ended = false;
    const sendReady = () => {
      for (let first = places[0]; first?.answer !== undefined; first = places[0]) {
        places.shift();
        onAnswer(first.answer);
        stream.send(encode(CheckActionResponse, checkResponseOf(first.answer)));
      }
      if (places.length > 0) return;
      if (health.draining) stream.fail(new ReeveError('shutting_down', 'the gateway is shutting down'));
      else if (ended) stream.end();
    };
    const forget = health.onDrain(sendReady);
    return {
      message: (bytes) => {
        if (health.draining) return;
        const place: Place = { answer: undefined };
        places.push(place);
        answerTo(gov, bytes).then(
          (answer) => {
            place.answer = answer;
            if (isKnown(answer)) call.credentialShown();
            sendReady();
          },
          (error: unknown) => stream.fail(error),
        );
      },
      ended: () => {
        ended = true;
        sendReady();
      },
      closed: () => forget(),
    };
  };
}

async function answerTo(gov: Governance, bytes: Uint8Array): Promise<Answer> {
  try {
    return await checkAction(gov, checkRequestOf(decode('CheckActionRequest', bytes)));
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'invalid_argument') return invalidRequest(error.message);
    throw error;
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
    limit: undefined,
    observed: [],
  };
}
