import { CliError } from '../cli-error.ts';
import { bearerHeader } from '../http/bearer-header.ts';
import { problemError } from '../http/problem-error.ts';
import { readText, send } from '../http/send.ts';

const timeoutMs = 30_000;

/** One call to the demo's own gateway. */
export async function exchangeJson<Answer = unknown>(
  http: string,
  method: string,
  path: string,
  key: string | undefined,
  body: unknown,
): Promise<Answer> {
  const url = `${http}${path}`;
  const answer = await send({
    method,
    url,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...bearerHeader(key) },
    body: JSON.stringify(body),
    timeoutMs,
  });
  const text = await readText(answer, url, timeoutMs);
  if (answer.status >= 300) throw problemError(answer.status, text, answer.headers.location, url);
  try {
    return JSON.parse(text) as Answer;
  } catch {
    throw new CliError(`${url} answered ${answer.status} without JSON`);
  }
}
