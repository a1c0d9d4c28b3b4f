import type { z } from 'zod';
import { HttpError } from './problem.ts';

/** The most errors in one answer. */
const mostErrors = 100;

/** Checks a part of a request by its schema; errors carry JSON pointers. */
export function validate<Schema extends z.ZodType>(schema: Schema, value: unknown, where: string): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const errors = result.error.issues.slice(0, mostErrors).flatMap(describe(where)).slice(0, mostErrors);
  const [first] = errors;
  throw new HttpError('validation_failed', `${first?.pointer ?? where}: ${first?.detail ?? 'is not valid'}`, {
    errors,
  });
}

function describe(where: string) {
  return (issue: z.core.$ZodIssue): { pointer: string; detail: string }[] => {
    const pointer = [where, ...issue.path.map((part) => escape(String(part)))].join('/');
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.map((key) => ({ pointer: `${pointer}/${escape(key)}`, detail: 'is not known here' }));
    }
    return [{ pointer, detail: issue.message }];
  };
}

/** Escapes a part of a JSON pointer, RFC 6901. */
function escape(part: string): string {
  return part.replaceAll('~', '~0').replaceAll('/', '~1');
}
