import { Client, credentials } from '@grpc/grpc-js';
import * as fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EngineName } from '../engine.ts';
import type { TestServer } from '../test-server.ts';
import { startTestServer } from '../test-server.ts';
import { callBy, clientCalls } from './client-call.ts';
import { knownDifferences } from './known-differences.ts';
import { rawCalls } from './raw-call.ts';
import { outcomeOf } from './raw-outcome.ts';

const numRuns = Number(process.env['REEVE_DIFFERENTIAL_RUNS'] ?? 300);
const long = 24 * 3600 * 1000;

interface Side {
  readonly server: TestServer;
  readonly client: Client;
}

let sides: Record<EngineName, Side>;

async function side(engine: EngineName): Promise<Side> {
  const server = await startTestServer(engine, false);
  return { server, client: new Client(`127.0.0.1:${server.port}`, credentials.createInsecure()) };
}

beforeAll(async () => {
  const [reeve, grpcJs] = await Promise.all([side('reeve'), side('grpc-js')]);
  sides = { reeve, 'grpc-js': grpcJs };
});

afterAll(async () => {
  for (const { client, server } of Object.values(sides)) {
    client.close();
    await server.stop();
  }
});

test(
  'a client sees the same of both engines, whatever it calls',
  async () => {
    await fc.assert(
      fc.asyncProperty(clientCalls, async (plan) => {
        const [reeve, grpcJs] = await Promise.all([
          callBy(sides.reeve.client, plan),
          callBy(sides['grpc-js'].client, plan),
        ]);
        expect(reeve).toEqual(grpcJs);
      }),
      { numRuns },
    );
  },
  long,
);

test(
  'the frames of a call, odd or cut off, have the same outcome on both engines',
  async () => {
    await fc.assert(
      fc.asyncProperty(rawCalls, async (plan) => {
        const [reeve, grpcJs] = await Promise.all([
          outcomeOf(sides.reeve.server.port, plan),
          outcomeOf(sides['grpc-js'].server.port, plan),
        ]);
        const known = knownDifferences[plan.oddity];
        if (known === undefined || reeve === 'cut') {
          expect(reeve).toBe(grpcJs);
        } else {
          expect(reeve).toMatch(known.reeve);
          expect(grpcJs).toMatch(known.grpcJs);
        }
      }),
      { numRuns },
    );
  },
  long,
);
