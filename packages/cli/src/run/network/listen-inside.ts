import { realpathSync } from 'node:fs';
import { isSea } from 'node:sea';
import { runInThisContext } from 'node:vm';

/** Where the program finds its ways out, in a namespace of its own: beside the address that programs listen on themselves. */
export const insideHost = '127.0.0.2';
export const insidePorts = { proxy: 20_128, gateway: 20_127 } as const;

export type InsideName = keyof typeof insidePorts;

/**
 * Runs in the jail before the program: listens, hands the listening sockets to the process outside, and ends. So nothing of
 * it is left inside that a program could reach.
 */
const script = `
const { createServer } = process.getBuiltinModule('node:net');
process.on('disconnect', () => process.exit(1));
const hand = ([next, ...rest]) => {
  if (next === undefined) process.exit(0);
  const [name, port] = next;
  const server = createServer();
  server.once('error', () => process.exit(1));
  server.listen({ host: '${insideHost}', port, backlog: 511 }, () => process.send(name, server, undefined, (error) => error ? process.exit(1) : hand(rest)));
};
hand(Object.entries(${JSON.stringify(insidePorts)}));`;

/** The words that do it: three of them. */
export function listenInsideWords(): readonly [program: string, option: string, script: string] {
  return isSea()
    ? [realpathSync(process.execPath), 'listen-inside', '']
    : [realpathSync(process.execPath), '-e', script];
}

/** What the single executable does by its own word: it is no Node that takes scripts. */
export function listenInside(): Promise<never> {
  runInThisContext(script);
  return new Promise(() => {});
}
