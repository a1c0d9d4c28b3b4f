import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { endWithUs } from '../harness/end-with-us.ts';
import type { EngineName } from './engine.ts';
import { cacheFolder } from './tools.ts';

export interface TestServer {
  readonly port: number;
  /** The file of the certificate that the server shows; undefined if it speaks plain text. */
  readonly certificate: string | undefined;
  /** Throws if the server has ended by itself. */
  stop(): Promise<void>;
}

/** Starts the test service in a process of its own, so that an engine that breaks takes only itself down. */
export async function startTestServer(engine: EngineName, secure: boolean): Promise<TestServer> {
  const tls = secure ? certificate() : undefined;
  const program = fileURLToPath(new URL('serve.ts', import.meta.url));
  const args = tls === undefined ? [engine] : [engine, tls.cert, tls.key];
  const child = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  endWithUs(child);
  let complaints = '';
  child.stderr.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk.toString()).slice(-4000);
  });
  const ended = once(child, 'exit');
  const line = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line').then(([text]) => String(text)),
    ended.then(() => undefined),
  ]);
  if (line === undefined) throw new Error(`the test server on ${engine} did not start: ${complaints}`);
  return {
    port: Number(line),
    certificate: tls?.cert,
    stop: async () => {
      if (child.exitCode !== null) throw new Error(`the test server on ${engine} has ended: ${complaints}`);
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** A certificate for this machine, made once. */
export function certificate(): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(cacheFolder, 'cert.pem'), join(cacheFolder, 'key.pem')];
  if (existsSync(cert) && existsSync(key)) return { cert, key };
  mkdirSync(cacheFolder, { recursive: true });
  const kind = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3650'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
  // Some clients take no certificate of an authority from a server.
  const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
  execFileSync('openssl', ['req', ...kind, ...subject, ...leaf, '-keyout', key, '-out', cert], { stdio: 'pipe' });
  return { cert, key };
}
