import { readFileSync } from 'node:fs';
import { GrpcClient } from '@reeve/grpc-server/client';
import type { InteropClient } from '../interop-cases.ts';
import { interopCases } from '../interop-cases.ts';
import { failureOfCase } from './failure-of-case.ts';
import { reeveCases } from './reeve-cases.ts';

/** Reeve's own client, which is what the SDK calls by. */
export const reeveClient: InteropClient = {
  name: 'Reeve',
  prepare: () => {
    const manifest = readFileSync('packages/grpc-server/package.json', 'utf8');
    return Promise.resolve({ path: '', version: (JSON.parse(manifest) as { version: string }).version });
  },
  run: async (_, { port, certificate }, tell) => {
    const tls = certificate === undefined ? undefined : { ca: readFileSync(certificate) };
    const client = new GrpcClient({ address: `${tls === undefined ? '127.0.0.1' : 'localhost'}:${port}`, tls });
    for (const name of interopCases) tell(name, await failureOfCase(() => reeveCases[name](client)));
    client.close();
  },
};
