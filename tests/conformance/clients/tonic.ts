import { fileURLToPath } from 'node:url';
import type { InteropClient } from '../interop-cases.ts';
import { cargoTool } from '../tools.ts';
import { runLineClient } from './line-client.ts';

/** tonic, the usual gRPC of Rust. */
export const tonicClient: InteropClient = {
  name: 'tonic',
  prepare: (say) => cargoTool(fileURLToPath(new URL('tonic-client', import.meta.url)), 'tonic-client', say),
  run: (program, server, tell) => runLineClient([program], server, tell),
};
