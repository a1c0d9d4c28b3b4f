import { readFileSync } from 'node:fs';
import { FloorError } from '../floor-error.ts';
import { mostRelayed } from './gateway-relay.ts';
import { mostConnections } from './governed-connections.ts';
import { mostClients } from './proxy-front.ts';

/** For the streams of the program, the gateway, the process table, the lookups of names. */
const own = 128;
const needed = mostClients + mostConnections + 2 * mostRelayed + own;

/** A program must not be able to take all descriptors: without any, this process can hold nothing. */
export function requireDescriptors(): void {
  const limit = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
  if (limit !== undefined && Number(limit) < needed) {
    throw new FloorError(`it needs ${needed} open files, and this process may have ${limit}; raise "ulimit -n"`);
  }
}
