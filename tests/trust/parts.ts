import { clock } from './clock.ts';
import { disk } from './disk.ts';
import { fork } from './fork.ts';
import { compareTrees } from '../shell/compare-trees.ts';
import { fuzzLines } from '../shell/fuzz-lines.ts';
import { histories } from './histories.ts';
import { fuzz } from './fuzz/fuzz.ts';
import { kills } from './kills.ts';
import { memory } from './memory.ts';
import { mutation } from './mutation/mutation.ts';
import type { Part } from './part.ts';
import { poison } from './poison.ts';
import { signals } from './signals.ts';
import { stall } from './stall.ts';
import { streams } from './streams.ts';
import { tenants } from './tenants.ts';

/** The campaign. Shares are of the time. A part's unused time goes to those after it. */
export const parts: readonly Part[] = [
  {
    name: 'kills',
    holds:
      'Everything acknowledged before a SIGKILL is in the store, once. The chain is unbroken, and the balances agree.',
    share: 29,
    most: 1000,
    run: kills,
  },
  {
    name: 'signals',
    holds:
      'After SIGTERM or SIGKILL at any moment of start, recovery, migration, housekeeping and shutdown, the process ends and the next one starts.',
    share: 9,
    most: 500,
    run: signals,
  },
  {
    name: 'disk',
    holds:
      'On full and read-only disks, and with stores that are gone, back or slow, calls fail closed, nothing is lost, and service resumes.',
    share: 6,
    most: 100,
    run: disk,
  },
  {
    name: 'clock',
    holds: 'When the clock moves forwards and back, what was spent today stays spent, and balances and log agree.',
    share: 4,
    most: 100,
    run: clock,
  },
  {
    name: 'stall',
    holds:
      'While the links of a gateway stall, a credential that ends at another gateway does nothing any more once that is answered.',
    share: 4,
    most: 300,
    run: stall,
  },
  {
    name: 'streams',
    holds:
      'With thousands of idle streams, slow readers and floods, another tenant’s decisions continue, in bounded memory.',
    share: 5,
    most: 70,
    run: streams,
  },
  {
    name: 'memory',
    holds:
      'A tenant’s agents, and answers that nobody takes, stay within their bounds of memory. Others are decided, and the gateway starts again.',
    share: 3,
    most: 30,
    run: memory,
  },
  {
    name: 'fuzz',
    holds:
      'No input over HTTP, gRPC or WebSocket, and no policy, condition or case, causes a 5xx, INTERNAL, a crash, a hang or growth.',
    share: 18,
    most: 1_000_000,
    run: fuzz,
  },
  {
    name: 'shell',
    holds: 'No line runs a program in bash or dash that the hook of coding agents has neither found nor doubted.',
    share: 10,
    most: 10_000_000,
    run: fuzzLines,
  },
  {
    name: 'shell-trees',
    holds: 'The hook of coding agents finds every command that another parser finds (mvdan.cc/sh), or has a doubt.',
    share: 2,
    most: 1_000_000,
    run: compareTrees,
  },
  {
    name: 'tenants',
    holds: 'Tenants cannot see or touch each other. No credential lifts what a wider one imposed.',
    share: 4,
    most: 3,
    run: tenants,
  },
  {
    name: 'poison',
    holds:
      'No value of a caller, and no commit or row that cannot be read, stops another gateway, a start or another tenant.',
    share: 4,
    most: 200,
    run: poison,
  },
  {
    name: 'fork',
    holds: 'After a failover that lost commits, no gateway decides by them.',
    share: 4,
    most: 30,
    run: fork,
  },
  {
    name: 'histories',
    holds:
      'What callers of a simulated cluster are told of budgets, keys and operations is linearizable, as Porcupine judges it.',
    share: 3,
    most: 1000,
    run: histories,
  },
  {
    name: 'mutation',
    holds: 'Tests notice when the core is changed.',
    share: 22,
    most: 15,
    run: mutation,
  },
];
