import { defineCommand } from '../command-line/command.ts';
import { choice, text } from '../command-line/values.ts';
import { writeStream } from '../audit/write-stream.ts';
import { connect } from '../http/connect.ts';
import { readChunks } from '../http/send.ts';
import { counted } from '../output/duration.ts';
import { note, print } from '../output/print.ts';
import { withProgress } from '../output/progress.ts';
import { logFilters, logQuery } from './log-filters.ts';

export const auditExportCommand = defineCommand({
  details: [
    'Needs the scope read. Oldest first, of any number. JSON lines hold whole entries, which "reeve audit verify" can verify; CSV is for spreadsheets and holds a part of them.',
    'With --out the file appears only when the export is complete. Only its owner can read it. Data with --out: {file, format, lines, bytes}.',
  ],
  args: {},
  options: {
    format: choice(['jsonl', 'csv'], 'Default: jsonl.'),
    out: text('FILE', 'Write into this file instead of standard output.', { completes: 'file' }),
    ...logFilters,
  },
  examples: [
    ['reeve audit export --out audit.jsonl', 'everything, to keep and to verify'],
    ['reeve audit export --format csv --org acme --from 30d > acme.csv', 'a month of one org, for a spreadsheet'],
  ],
  run: async (input, shell) => {
    const { out, format = 'jsonl' } = input.options;
    const client = await connect(shell, input);
    const timeoutMs = input.globals.timeout * 1000;
    const answer = await client.open('exportLogs', { query: { ...logQuery(input.options), format } });
    const seen = { bytes: 0, lines: 0 };
    const chunks = readChunks(answer.body, client.apiUrl, timeoutMs);
    const file = out === '-' ? undefined : out;
    const work = writeStream(shell, counting(chunks, seen), file);
    const words = () => `Exporting: ${counted(seen.lines, 'line')}, ${counted(seen.bytes, 'byte')}`;
    try {
      // On a terminal the entries themselves show the progress.
      await (file === undefined ? work : withProgress(shell, words, work));
    } finally {
      // After a failed write, nobody has read the body to its end.
      answer.body.destroy();
    }
    if (file === undefined) return 0;
    const result = `Wrote ${counted(seen.lines, 'line')} to ${file}.`;
    if (input.globals.output === 'table') note(shell, result);
    else print(shell, input.globals.output, { file, format, ...seen }, () => result);
    return 0;
  },
});

async function* counting(
  chunks: AsyncIterable<Buffer>,
  seen: { bytes: number; lines: number },
): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    seen.bytes += chunk.byteLength;
    for (let at = chunk.indexOf(10); at !== -1; at = chunk.indexOf(10, at + 1)) seen.lines++;
    yield chunk;
  }
}
