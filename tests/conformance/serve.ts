// The test service in a process of its own: serve.ts ENGINE [CERT KEY]. It prints the port once it listens.
import { readFileSync } from 'node:fs';
import { grpcJsEngine } from './engines/grpc-js.ts';
import { reeveEngine } from './engines/reeve.ts';
import { testService } from './test-service.ts';

const [name, cert, key] = process.argv.slice(2);
const tls = cert === undefined || key === undefined ? undefined : { cert: readFileSync(cert), key: readFileSync(key) };
const options = { ...testService, tls };
const engine = name === 'reeve' ? reeveEngine(options) : grpcJsEngine(options);
process.stdout.write(`${await engine.listen('127.0.0.1', 0)}\n`);
