import type { Shell } from '../shell.ts';

/** The next line of the input, without its line end. Empty if there is none. Later input is left alone. */
export function readLine(shell: Shell): Promise<string> {
  const { stdin } = shell;
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    const over = () => {
      stdin.off('readable', onReadable).off('end', over).off('error', over);
      keepAlive(shell, false);
      resolve(Buffer.concat(chunks).toString('utf8').replace(/\r$/, ''));
    };
    const onReadable = () => {
      for (let chunk = stdin.read() as Buffer | null; chunk !== null; chunk = stdin.read() as Buffer | null) {
        const end = chunk.indexOf('\n');
        chunks.push(end === -1 ? chunk : chunk.subarray(0, end));
        if (end === -1) continue;
        if (end + 1 < chunk.byteLength) stdin.unshift(chunk.subarray(end + 1));
        over();
        return;
      }
    };
    keepAlive(shell, true);
    stdin.on('readable', onReadable).on('end', over).on('error', over);
  });
}

/** An open input must not keep the command from ending. A file as input has no `ref`. */
function keepAlive({ stdin }: Shell, isNeeded: boolean): void {
  const pipe: Partial<Pick<typeof stdin, 'ref' | 'unref'>> = stdin;
  if (isNeeded) pipe.ref?.();
  else {
    stdin.pause();
    pipe.unref?.();
  }
}
