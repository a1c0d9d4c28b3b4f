import { fileURLToPath } from 'node:url';
import type { InteropClient } from '../interop-cases.ts';
import { pythonWith } from '../tools.ts';
import { runLineClient } from './line-client.ts';

const script = fileURLToPath(new URL('grpcio_client.py', import.meta.url));

/** grpcio, which is the C core under Python. */
export const grpcioClient: InteropClient = {
  name: 'grpcio',
  prepare: (say) => pythonWith('grpcio', ['grpcio', 'grpcio-tools'], say),
  run: (program, server, tell) => runLineClient([program, script], server, tell),
};
