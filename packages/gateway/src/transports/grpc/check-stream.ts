import { CheckActionResponse } from '@reeve/contract';
import type { Answer, Decisions } from '@reeve/core';
import { checkAction, longestStretch, ReeveError } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import type { Health } from '../../telemetry/health.ts';
import { checkRequestOf, checkResponseOf, isKnown } from './convert-check.ts';
import type { Admits } from './decode.ts';
import { decodeFromAgent } from './decode.ts';
import { encode } from './message-writer.ts';
import type { RpcCall, StreamHandler } from './rpc.ts';
import { invalidRequestReason } from '@reeve/contract/names';

/** The place of a request in its stream. Answers leave in this order, whichever is ready first. */
interface Place {
  answer: Answer | undefined;
}

/**
 * A pipeline of checks. Each is judged as it arrives, and answered once it is durable and all before it are answered. A
 * malformed entry is denied in its place, and the stream goes on.
 */
export function checkStream(
  decisions: Decisions & Admits,
  health: Health,
  onAnswer: (answer: Answer) => void,
): StreamHandler {
  return (stream, call) => {
    const places: Place[] = [];
    const waiting: Uint8Array[] = [];
    /** When the slice of this turn began. */
    let began: number | undefined;
    let ended = false;
    const sendReady = () => {
      for (let first = places[0]; first?.answer !== undefined; first = places[0]) {
        places.shift();
        onAnswer(first.answer);
        stream.send(encode(CheckActionResponse, checkResponseOf(first.answer)));
      }
      if (places.length > 0 || waiting.length > 0) return;
      if (health.draining) stream.fail(new ReeveError('shutting_down', 'the gateway is shutting down'));
      else if (ended) stream.end();
    };
    const judge = (bytes: Uint8Array) => {
      const place: Place = { answer: undefined };
      places.push(place);
      answerTo(decisions, bytes, call)
        .then((answer) => {
          place.answer = answer;
          sendReady();
        })
        .catch((error: unknown) => stream.fail(error));
    };
    const isOver = () => began !== undefined && decisions.clock.elapsed() - began >= longestStretch;
    const beginStretch = () => {
      began = decisions.clock.elapsed();
      void decisions.journal.nextTurn().then(goOn);
    };
    /** Judges messages in slices, so that a client that sends very much at once delays itself and not the others. */
    const goOn = () => {
      began = undefined;
      if (waiting.length === 0 || !stream.isOpen) return;
      beginStretch();
      while (waiting.length > 0 && !isOver()) judge(waiting.shift() ?? new Uint8Array());
      if (waiting.length === 0) stream.resume();
    };
    const forget = health.onDrain(() => {
      waiting.length = 0;
      sendReady();
    });
    return {
      message: (bytes) => {
        if (health.draining) return;
        if (began === undefined) beginStretch();
        if (waiting.length === 0 && !isOver()) {
          judge(bytes);
        } else {
          waiting.push(bytes);
          stream.pause();
        }
      },
      ended: () => {
        ended = true;
        sendReady();
      },
      closed: () => forget(),
    };
  };
}

async function answerTo(decisions: Decisions & Admits, bytes: Uint8Array, call: RpcCall): Promise<Answer> {
  try {
    const decoded = decodeFromAgent(decisions, 'CheckActionRequest', bytes);
    const wire = decoded instanceof Promise ? await decoded : decoded;
    const request = checkRequestOf(wire, decisions.mostActionMicros);
    const answer = await checkAction(decisions, request);
    if (isKnown(answer)) call.credentialShown(readerOfAgent(request.agentId));
    return answer;
  } catch (error) {
    if (error instanceof ReeveError && error.code === 'invalid_argument') return invalidRequest(error.message);
    throw error;
  }
}

function invalidRequest(problem: string): Answer {
  return {
    decision: 'deny',
    reason: `${invalidRequestReason}${problem}`,
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
