import { CheckActionResponse } from '@reeve/contract';
import type { Answer, CheckRequest, Decisions } from '@reeve/core';
import { checkProven, longestStretch, mostUnderWay, proveAsker, ReeveError } from '@reeve/core';
import { readerOfAgent } from '../../evaluation/tenant-slots.ts';
import type { Health } from '../../telemetry/health.ts';
import { checkRequestOf, checkResponseOf, isKnown } from './convert-check.ts';
import { decode } from './decode.ts';
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
export function checkStream(decisions: Decisions, health: Health, onAnswer: (answer: Answer) => void): StreamHandler {
  return (stream, call) => {
    const places: Place[] = [];
    const waiting: Uint8Array[] = [];
    /** How many proofs of who asks are under way. */
    let proving = 0;
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
      answerTo(decisions, bytes, call, underWay)
        .then((answer) => {
          place.answer = answer;
          sendReady();
        })
        .catch((error: unknown) => stream.fail(error));
    };
    const underWay = async (proof: Promise<void>): Promise<void> => {
      proving++;
      await proof.finally(() => {
        proving--;
        if (began === undefined) goOn();
      });
    };
    const isOver = () => {
      return proving >= mostUnderWay || (began !== undefined && decisions.clock.elapsed() - began >= longestStretch);
    };
    const beginStretch = () => {
      began = decisions.clock.elapsed();
      void decisions.journal.nextTurn().then(goOn);
    };
    /**
     * Judges messages in slices, so that a client that sends very much at once delays itself and not the others. While many
     * proofs are under way, the end of one goes on.
     */
    const goOn = () => {
      began = undefined;
      if (waiting.length === 0 || !stream.isOpen || isOver()) return;
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

async function answerTo(
  decisions: Decisions,
  bytes: Uint8Array,
  call: RpcCall,
  underWay: (proof: Promise<void>) => Promise<void>,
): Promise<Answer> {
  const request = requestIn(bytes, decisions.mostActionMicros);
  if ('decision' in request) return request;
  const proof = proveAsker(decisions, request);
  if (proof !== undefined) await underWay(proof);
  const answer = await checkProven(decisions, request);
  if (isKnown(answer)) call.credentialShown(readerOfAgent(request.agentId));
  return answer;
}

/** The check in a message, or the answer to one that cannot be read. */
function requestIn(bytes: Uint8Array, mostMicros: number): CheckRequest | Answer {
  try {
    return checkRequestOf(decode('CheckActionRequest', bytes), mostMicros);
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
    judgeResult: false,
    judgePrompt: false,
    argsJson: undefined,
  };
}
