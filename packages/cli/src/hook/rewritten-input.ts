import { statusCode } from '@reeve/grpc-server/client';
import { GatewayRefusal } from '../grpc/unary-calls.ts';
import { isObject } from '../is-object.ts';
import type { ActionAnswer } from './describe-answer.ts';
import type { EventObject } from './event-members.ts';
import { parseKeepingDigits } from './parse-keeping-digits.ts';

/** The input that a tool gets in place of its own. Undefined if it keeps that. */
export function rewrittenInput({ args }: ActionAnswer): EventObject | undefined {
  if (args === undefined) return undefined;
  let input: unknown;
  try {
    input = parseKeepingDigits(Buffer.from(args).toString('utf8'));
  } catch {
    // Said below.
  }
  if (!isObject(input)) throw new GatewayRefusal(statusCode.internal, 'the gateway answered with no input of a tool');
  return input;
}
