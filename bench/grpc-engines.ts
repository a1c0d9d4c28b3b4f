// node bench/grpc-engines.ts [seconds]: the CPU time that a bare call takes by each gRPC engine, side by side.
import { fileURLToPath } from 'node:url';
import { GrpcConnection } from './grpc-connection.ts';
import { framedMessage, requestHead } from './http2-frames.ts';
import { pause, usageOf } from './process-usage.ts';
import type { ServerProcess } from './server-process.ts';
import { startServer } from './server-process.ts';
import { count, fixed, textTable } from './table.ts';

const engines = ['grpc-js', 'reeve'] as const;
const shapes = [
  { name: '1 connection, 1 call at a time', connections: 1, inFlight: 1, isStream: false },
  { name: '64 connections, 1 call each', connections: 64, inFlight: 1, isStream: false },
  { name: '4 connections, 64 calls each', connections: 4, inFlight: 64, isStream: false },
  { name: '1 stream, 64 messages at once', connections: 1, inFlight: 64, isStream: true },
] as const;
type Shape = (typeof shapes)[number];

const seconds = Number(process.argv[2] ?? 3);
const warmupSecs = 1.5;
const message = framedMessage(Buffer.alloc(200, 1));

interface Measured {
  readonly microsPerCall: number;
  readonly callsPerSecond: number;
}

async function measure({ grpc, pid }: ServerProcess, shape: Shape): Promise<Measured> {
  const connections = await Promise.all(Array.from({ length: shape.connections }, () => GrpcConnection.open(grpc)));
  const head = requestHead(grpc, shape.isStream ? '/bench/Stream' : '/bench/Unary');
  let answered = 0;
  let isGoing = true;
  const call = (connection: GrpcConnection) => {
    if (!isGoing) return;
    connection.unary(head, message, (answer) => {
      if (answer === undefined && isGoing) throw new Error(`a call failed: ${shape.name}`);
      answered++;
      call(connection);
    });
  };
  const stream = (connection: GrpcConnection) => {
    const opened = connection.stream(
      head,
      () => {
        answered++;
        if (isGoing) opened.send(message);
      },
      () => undefined,
    );
    for (let sent = 0; sent < shape.inFlight; sent++) opened.send(message);
  };
  for (const connection of connections) {
    if (shape.isStream) stream(connection);
    else for (let lane = 0; lane < shape.inFlight; lane++) call(connection);
  }
  await pause(warmupSecs);
  const from = { answered, at: performance.now(), cpu: usageOf(pid).cpuMicros ?? Number.NaN };
  await pause(seconds);
  const calls = answered - from.answered;
  const microsPerCall = ((usageOf(pid).cpuMicros ?? Number.NaN) - from.cpu) / calls;
  const callsPerSecond = (calls * 1000) / (performance.now() - from.at);
  isGoing = false;
  for (const connection of connections) connection.close();
  return { microsPerCall, callsPerSecond };
}

const program = fileURLToPath(new URL('bare-echo.ts', import.meta.url));
const servers = await Promise.all(engines.map((engine) => startServer(undefined, [process.execPath, program, engine])));
const rows: string[][] = [];
for (const shape of shapes) {
  const row: string[] = [shape.name];
  for (const server of servers) {
    const { microsPerCall, callsPerSecond } = await measure(server, shape);
    row.push(fixed(microsPerCall), count(callsPerSecond));
  }
  rows.push(row);
}
await Promise.all(servers.map((server) => server.stop()));
const header = engines.flatMap((engine) => [`${engine}: µs/call`, 'calls/s']);
process.stdout.write(`${textTable(['CPU of the server', ...header], rows)}\n`);
