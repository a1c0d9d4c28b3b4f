/** The lines of an answer as they arrive. A broken connection is an error, not the end. */
export async function* linesOf(
  response: Response,
  onBytes: (size: number) => void = () => undefined,
): AsyncGenerator<string> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  let rest = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      onBytes(value.byteLength);
      const parts = (rest + decoder.decode(value, { stream: true })).split('\n');
      rest = parts.pop() ?? '';
      yield* parts;
    }
    if (rest !== '') yield rest;
  } finally {
    // A caller that stops early wants no more.
    await reader.cancel().catch(() => undefined);
  }
}
