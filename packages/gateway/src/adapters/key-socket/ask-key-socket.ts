import { connect } from 'node:net';
import { StartError } from '../../start-error.ts';
import type { BootstrapKey } from './socket-place.ts';
import { bootstrapCommand, keySocketIn, whyNotOurs } from './socket-place.ts';

const longestMs = 15_000;
const longestAnswer = 65_536;

/** Asks the gateway that runs on a data folder for a new admin key. Undefined if none listens there. */
export async function askKeySocket(folder: string): Promise<BootstrapKey | undefined> {
  try {
    const why = whyNotOurs(folder);
    if (why !== undefined) throw new StartError(`${why}; nothing was asked there`);
    using place = keySocketIn(folder);
    return keyIn(await ask(place.path));
  } catch (error) {
    // There is no folder or socket, or the socket was left over by a gateway that was killed.
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'ECONNREFUSED') return undefined;
    if (code === 'EACCES') throw new StartError(`run this as the user of the gateway: no access to ${folder}`);
    throw error;
  }
}

function ask(path: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    const fail = (error: Error) => {
      socket.destroy();
      reject(error);
    };
    const late = new StartError('the gateway does not answer on its socket; stop it, and run this again');
    const deadline = setTimeout(() => fail(late), longestMs);
    let answer = '';
    socket.setEncoding('utf8');
    socket.on('error', fail);
    socket.on('data', (text: string) => {
      answer += text;
      if (answer.length > longestAnswer) fail(new StartError('the answer of the socket is no key'));
    });
    socket.on('close', () => {
      clearTimeout(deadline);
      resolve(answer);
    });
    socket.end(bootstrapCommand);
  });
}

function keyIn(answer: string): BootstrapKey {
  if (answer === '') throw new StartError('the gateway ended while it was asked; run this again');
  const told = JSON.parse(answer) as BootstrapKey | { readonly error: string };
  if ('error' in told) throw new StartError(`the gateway made no key: ${told.error}`);
  return told;
}
