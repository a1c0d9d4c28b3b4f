import { clock } from './clock.ts';
import { disk } from './disk.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { kills } from './kills.ts';
import { mutation } from './mutation/mutation.ts';
import type { Part } from './part.ts';
import { signals } from './signals.ts';
import { streams } from './streams.ts';
import { tenants } from './tenants.ts';

/** The campaign. Shares are of the time; what a part does not use goes to those after it. */
export const parts: readonly Part[] = [
  {
    name: 'kills',
    holds: 'Whatever was acknowledged before a SIGKILL is in the store, once; the chain is unbroken, the books agree.',
    share: 32,
    most: 1000,
    run: kills,
  },
  {
    name: 'signals',
    holds:
      'SIGTERM and SIGKILL at any moment of start, recovery, migration, housekeeping and shutdown: the process ends, the next one starts.',
    share: 9,
    most: 500,
    run: signals,
  },
  {
    name: 'disk',
    holds:
      'Full and read-only disks, stores that are gone, back or slow: calls fail closed, nothing is lost, service resumes.',
    share: 6,
    most: 100,
    run: disk,
  },
  {
    name: 'clock',
    holds: 'The clock forwards and back: what was spent today stays spent, books and log agree.',
    share: 4,
    most: 100,
    run: clock,
  },
  {
    name: 'streams',
    holds:
      'Idle streams by the thousand, slow readers and floods: another tenant’s decisions go on, in bounded memory.',
    share: 5,
    most: 70,
    run: streams,
  },
  {
    name: 'fuzz',
    holds:
      'Whatever is sent or written, over HTTP, gRPC, WebSocket, as policy, condition or case: no 5xx, INTERNAL, crash, hang or growth.',
    share: 18,
    most: 1_000_000,
    run: fuzz,
  },
  {
    name: 'tenants',
    holds: 'Tenants cannot see or touch each other; nobody lifts what somebody wider has imposed.',
    share: 4,
    most: 3,
    run: tenants,
  },
  {
    name: 'mutation',
    holds: 'Tests notice when the core is changed.',
    share: 22,
    most: 15,
    run: mutation,
  },
];
