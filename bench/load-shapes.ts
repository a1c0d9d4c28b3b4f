import { paths } from '@reeve/contract';
import type { Fleet } from './fleet.ts';
import { GrpcConnection } from './grpc-connection.ts';
import { requestHead } from './http2-frames.ts';
import type { LoadJob, LoadResult } from './load-protocol.ts';
import { batchSize } from './load-protocol.ts';
import { measureLoad } from './measured-load.ts';

type Job = Extract<LoadJob, { kind: 'load' }>;

/** Called for each answer, with the time of its request, and the answer unless the call failed. */
type Settle = (startedAt: number, answer: Buffer | undefined) => void;

/** Sends requests until the time is up, and calls `settle` for each answer. */
type Lane = (connection: GrpcConnection, job: Job, fleet: Fleet, going: () => boolean, settle: Settle) => Promise<void>;

/** A closed loop: every lane has one call in flight, and sends the next as soon as it is answered. */
export function drive(job: Job, fleet: Fleet): Promise<LoadResult> {
  const { shape } = job;
  const batch = shape.method === 'batch';
  return measureLoad(job, batch ? batchSize : 1, async (recorder) => {
    const connections = await Promise.all(
      Array.from({ length: shape.connections }, () => GrpcConnection.open(job.target)),
    );
    const settle: Settle = (startedAt, answer) =>
      recorder.settle(startedAt, answer && (batch ? allowedInBatch(answer) : allows(answer, 0) ? 1 : 0));
    // Only the gateway keeps operations; an echo has none to complete.
    const noteOpen = job.target === job.fleet ? fleet.opening() : () => {};
    const going = () => recorder.going();
    const lanes = connections.map((connection) => laneOf[shape.method](connection, job, fleet, going, settle));
    return async () => {
      await Promise.all(lanes);
      noteOpen();
      for (const connection of connections) connection.close();
    };
  });
}

const calls: Lane = (connection, job, fleet, going, settle) => {
  const batch = job.shape.method === 'batch';
  const head = requestHead(job.target, batch ? paths.batchCheck : paths.checkAction);
  const lanes = Array.from(
    { length: job.shape.inFlight },
    () =>
      new Promise<void>((resolve) => {
        const next = () => {
          if (!going()) {
            resolve();
            return;
          }
          const startedAt = performance.now();
          connection.unary(head, batch ? fleet.nextBatch() : fleet.nextCheck(job.shape.subject), (answer) => {
            settle(startedAt, answer);
            if (job.shape.restMs === undefined) next();
            else setTimeout(next, job.shape.restMs);
          });
        };
        next();
      }),
  );
  return Promise.all(lanes).then(() => undefined);
};

const streams: Lane = (connection, job, fleet, going, settle) =>
  new Promise((resolve) => {
    const startedAts: number[] = [];
    let answered = 0;
    const next = () => {
      startedAts.push(performance.now());
      stream.send(fleet.nextCheck());
    };
    const stream = connection.stream(
      requestHead(job.target, paths.checkStream),
      (answer) => {
        settle(startedAts[answered++] ?? 0, answer);
        if (going()) next();
        else if (answered === startedAts.length) stream.end();
      },
      () => {
        for (; answered < startedAts.length; answered++) settle(startedAts[answered] ?? 0, undefined);
        resolve();
      },
    );
    for (let sent = 0; sent < job.shape.inFlight; sent++) next();
  });

const laneOf: Readonly<Record<Job['shape']['method'], Lane>> = { unary: calls, batch: calls, stream: streams };

/** Whether the CheckActionResponse at this place begins with `decision: ALLOW`. */
function allows(response: Buffer, at: number): boolean {
  return response[at] === 0x08 && response[at + 1] === 0x01;
}

export function allowedInBatch(response: Buffer): number {
  let allowed = 0;
  for (let at = 0; at < response.length; ) {
    at++;
    let length = 0;
    for (let shift = 0; ; shift += 7) {
      const byte = response[at++] ?? 0;
      length |= (byte & 127) << shift;
      if (byte < 128) break;
    }
    if (allows(response, at)) allowed++;
    at += length;
  }
  return allowed;
}
