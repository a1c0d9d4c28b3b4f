// The load process: runs one job after the other, and answers with its measurements.
import { paths } from '@reeve/contract';
import { ControlListeners } from './control-listeners.ts';
import { EventFollowers } from './event-followers.ts';
import type { Fleet } from './fleet.ts';
import { allowOneIn, pipelined, registerFleet, secondsSince } from './fleet.ts';
import { GrpcConnection } from './grpc-connection.ts';
import { requestHead } from './http2-frames.ts';
import type { JobResults, LoadJob, SetupResult } from './load-protocol.ts';
import { batchSize } from './load-protocol.ts';
import { allowedInBatch, drive } from './load-shapes.ts';
import { logIn } from './login-lanes.ts';
import { driveRaw } from './peers/raw-load.ts';
import { untilAtRest } from './process-usage.ts';
import { SubjectTokens } from './subject-tokens.ts';

const fleets = new Map<string, Fleet>();
const listeners = new Map<string, ControlListeners>();
const followers = new Map<string, EventFollowers>();

function fleetOf(address: string): Fleet {
  const fleet = fleets.get(address);
  if (fleet === undefined) throw new Error(`no agents are registered at ${address}`);
  return fleet;
}

function listenersOf(address: string): ControlListeners {
  const listening = listeners.get(address);
  if (listening === undefined) throw new Error(`nobody listens at ${address}`);
  return listening;
}

function followersOf(address: string): EventFollowers {
  const following = followers.get(address);
  if (following === undefined) throw new Error(`nobody follows ${address}`);
  return following;
}

async function work(job: LoadJob): Promise<JobResults[LoadJob['kind']]> {
  switch (job.kind) {
    case 'register': {
      const { fleet, result } = await registerFleet(job.fleet, job.agents, job.orgs, job.orgPrefix);
      fleets.set(job.fleet, fleet);
      return result;
    }
    case 'vouch':
      fleetOf(job.fleet).tokens = new SubjectTokens(job.privateKey);
      return { done: 1, failed: 0, seconds: 0 };
    case 'sample':
      return sample(job.fleet, job.method);
    case 'load':
      return drive(job, fleetOf(job.fleet));
    case 'raw':
      return driveRaw(job, fleetOf);
    case 'fill':
      return fill(job.fleet, job.ops, job.noted ?? false);
    case 'complete':
      return complete(job.fleet, job.pid);
    case 'mixed':
      return mixed(job.fleet, job.decisions);
    case 'listen': {
      const { agents } = fleetOf(job.fleet);
      listeners.set(job.fleet, await ControlListeners.open(job, agents));
      return { done: agents.length, failed: 0, seconds: 0 };
    }
    case 'hear':
      return listenersOf(job.fleet).hear(job);
    case 'hang-up':
      return listenersOf(job.fleet).close();
    case 'follow':
      followers.set(job.http, await EventFollowers.open(job.http, job.clients));
      return { done: job.clients, failed: 0, seconds: 0 };
    case 'followed':
      return followersOf(job.http).have(job.events);
    case 'unfollow':
      return followersOf(job.http).close();
    case 'logins':
      return logIn(job);
  }
}

async function sample(address: string, method: 'unary' | 'small' | 'batch'): Promise<JobResults['sample']> {
  const connection = await GrpcConnection.open(address);
  const fleet = fleetOf(address);
  const path = method === 'batch' ? paths.batchCheck : paths.checkAction;
  const message = {
    unary: () => fleet.nextCheck(),
    small: () => fleet.nextSmallCheck(),
    batch: () => fleet.nextBatch(),
  }[method]();
  const answer = await new Promise<Buffer | undefined>((resolve) => {
    connection.unary(requestHead(address, path), message, resolve);
  });
  connection.close();
  if (answer === undefined) throw new Error(`${path} failed at ${address}`);
  return { answer: answer.toString('base64') };
}

async function fill(address: string, ops: number, noted: boolean): Promise<SetupResult> {
  const fleet = fleetOf(address);
  const noteOpen = noted ? fleet.opening() : () => {};
  const connection = await GrpcConnection.open(address);
  const head = requestHead(address, paths.batchCheck);
  const startedAt = performance.now();
  const failed = await pipelined(
    ops / batchSize,
    (_, done) => connection.unary(head, fleet.nextBatch(), (answer) => done(answer !== undefined)),
    4,
  );
  noteOpen();
  connection.close();
  return { done: ops, failed, seconds: secondsSince(startedAt) };
}

async function complete(address: string, pid: number): Promise<SetupResult> {
  const fleet = fleetOf(address);
  const connection = await GrpcConnection.open(address);
  const head = requestHead(address, paths.completeAction);
  const startedAt = performance.now();
  let done = 0;
  let failed = 0;
  const lane = async () => {
    for (let number = fleet.nextOpen(); number !== undefined; number = fleet.nextOpen()) {
      const message = fleet.completion(number);
      const answer = await new Promise<Buffer | undefined>((resolve) => {
        connection.unary(head, message, resolve);
      });
      if (answer === undefined) failed++;
      else done++;
    }
  };
  await Promise.all(Array.from({ length: 128 }, lane));
  const seconds = secondsSince(startedAt);
  connection.close();
  await untilAtRest(pid);
  return { done, failed, seconds };
}

async function mixed(address: string, decisions: number): Promise<SetupResult> {
  const fleet = fleetOf(address);
  const connection = await GrpcConnection.open(address);
  const batchHead = requestHead(address, paths.batchCheck);
  const completeHead = requestHead(address, paths.completeAction);
  const startedAt = performance.now();
  const failed = await pipelined(
    decisions / batchSize,
    (_, done) => {
      const { framed, allowed } = fleet.nextMixedBatch();
      connection.unary(batchHead, framed, (answer) => {
        let open = allowed.length;
        let ok = answer !== undefined && allowedInBatch(answer) === batchSize / allowOneIn;
        for (const number of allowed) {
          connection.unary(completeHead, fleet.completion(number), (completed) => {
            ok &&= completed !== undefined;
            if (--open === 0) done(ok);
          });
        }
      });
    },
    8,
  );
  connection.close();
  return { done: decisions, failed, seconds: secondsSince(startedAt) };
}

process.on('message', (job: LoadJob) => {
  work(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: error instanceof Error ? error.message : String(error) }),
  );
});
process.on('disconnect', () => process.exit());
