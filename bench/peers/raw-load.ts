import type { Fleet } from '../fleet.ts';
import type { LoadJob, LoadResult } from '../load-protocol.ts';
import { measureLoad } from '../measured-load.ts';
import { RawConnection } from './raw-connection.ts';
import { requestBlocks } from './request-blocks.ts';

type Job = Extract<LoadJob, { kind: 'raw' }>;

/** A closed loop of raw calls: each lane sends the next as soon as it is answered. */
export function driveRaw(job: Job, fleetOf: (address: string) => Fleet): Promise<LoadResult> {
  const { request, shape, target } = job;
  return measureLoad(job, 1, async ({ going, settle }) => {
    const calls = {
      blocks: requestBlocks(target, request.path, request.contentType),
      content: contentOf(job, fleetOf),
      answer: { bytes: Buffer.from(request.answer.hex, 'hex'), at: request.answer.at },
      going,
      settle: (startedAt: number, ok: boolean) => settle(startedAt, ok ? 1 : undefined),
    };
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

/** Only the gateway of the fleet keeps operations; an echo has none to complete. */
function openingOf({ request: { content }, target }: Job, fleetOf: (address: string) => Fleet): () => void {
  return 'fleet' in content && content.fleet === target ? fleetOf(target).opening() : () => {};
}

function contentOf({ request: { content } }: Job, fleetOf: (address: string) => Fleet): () => Buffer {
  if ('fleet' in content) {
    const fleet = fleetOf(content.fleet);
    return () => fleet.nextSmallCheck();
  }
  const bytes = Buffer.from(content.base64, 'base64');
  return () => bytes;
}
