const newline = 10;
const mostBytes = 64 * 1024 * 1024;

/**
 * The lines of a text that arrives in pieces. Only a line feed ends a line. Node's own reader also ends lines at
 * U+2028, which may occur in JSON.
 */
export async function* linesOf(chunks: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let pieces: Buffer[] = [];
  let size = 0;
  for await (const chunk of chunks) {
    let from = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, from)) {
      yield Buffer.concat([...pieces, chunk.subarray(from, end)]).toString('utf8');
      pieces = [];
      size = 0;
      from = end + 1;
    }
    const rest = chunk.subarray(from);
    if (rest.byteLength > 0) pieces.push(rest);
    size += rest.byteLength;
    if (size > mostBytes) throw new Error('a line is too long');
  }
  if (pieces.length > 0) yield Buffer.concat(pieces).toString('utf8');
}
