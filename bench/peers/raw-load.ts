import type { Fleet } from '../fleet.ts';
import type { LoadJob, LoadResult, RawCall } from '../load-protocol.ts';
import { measureLoad } from '../measured-load.ts';
import type { RawCalls, RawKind, RawSending } from './raw-connection.ts';
import { RawConnection } from './raw-connection.ts';
import { requestBlocks } from './request-blocks.ts';

type Job = Extract<LoadJob, { kind: 'raw' }>;
type FleetOf = (address: string) => Fleet;

/** A closed loop of raw calls: each lane sends the next as soon as it is answered. */
export function driveRaw(job: Job, fleetOf: FleetOf): Promise<LoadResult> {
  const { shape, target } = job;
  return measureLoad(job, 1, async ({ going, settle }) => {
    const calls = callsOf(job, fleetOf, going, settle);
    const noteOpen = openingOf(job, fleetOf);
    const opening = Array.from({ length: shape.connections }, () => RawConnection.open(target, calls, shape.inFlight));
    const connections = await Promise.all(opening);
    return async () => {
      await Promise.all(connections.map(({ done }) => done));
      for (const connection of connections) connection.close();
      noteOpen();
    };
  });
}

/** Only the gateway of the fleet keeps operations, and those of a mix end by themselves. */
function openingOf({ request: { content, mix }, target }: Job, fleetOf: FleetOf): () => void {
  return mix === undefined && 'fleet' in content && content.fleet === target ? fleetOf(target).opening() : () => {};
}

const denyOneIn = 10;
const holdOneIn = 100;

/** A kind of check, and what the next one holds. */
interface Check extends RawKind {
  readonly content: () => Buffer;
  /** The number of the operation that it named last. */
  readonly number: () => number;
}

function callsOf(
  { request, target }: Job,
  fleetOf: FleetOf,
  going: () => boolean,
  settle: (startedAt: number, allowed: number | undefined) => void,
): RawCalls {
  const { mix } = request;
  const blocks = requestBlocks(target, request.path, request.contentType, mix?.completePath);
  const usual = checkOf(request, blocks.later, fleetOf);
  const denied = mix === undefined ? usual : checkOf(mix.denied, blocks.later, fleetOf);
  const held = mix?.held === undefined ? usual : checkOf(mix.held, blocks.later, fleetOf);
  // Any message will do: what fails is answered without one.
  const completion: RawKind = { block: blocks.other, answer: { bytes: Buffer.from([0]), at: 0 } };
  const completes = mix?.completePath !== undefined;
  const allowed: number[] = [];
  const next: RawSending = { kind: usual, content: Buffer.alloc(0), number: 0 };
  let checks = 0;
  return {
    first: blocks.first,
    next: (isFirst) => {
      const ended = isFirst ? undefined : allowed.pop();
      if (ended === undefined) {
        checks++;
        const check = checks % holdOneIn === 0 ? held : checks % denyOneIn === 1 ? denied : usual;
        next.kind = check;
        next.content = check.content();
        next.number = check.number();
      } else {
        next.kind = completion;
        next.content = fleetOf(target).completion(ended);
      }
      return next;
    },
    going,
    settle: (kind, number, startedAt, ok) => {
      if (kind !== completion || !ok) settle(startedAt, ok ? 1 : undefined);
      if (completes && kind === usual && ok) allowed.push(number);
    },
  };
}

function checkOf({ content, answer }: RawCall, block: Buffer, fleetOf: FleetOf): Check {
  const right = { bytes: Buffer.from(answer.hex, 'hex'), at: answer.at };
  if ('fleet' in content) {
    const fleet = fleetOf(content.fleet);
    const { check } = content;
    return { block, answer: right, content: () => fleet.nextSmallCheck(check), number: () => fleet.newest };
  }
  const bytes = Buffer.from(content.base64, 'base64');
  return { block, answer: right, content: () => bytes, number: () => 0 };
}
