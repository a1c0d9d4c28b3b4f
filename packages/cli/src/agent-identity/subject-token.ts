import { readFileSync } from 'node:fs';

/** The variable that names the file with the JWT of the user for whom the agent acts. */
export const subjectTokenVariable = 'REEVE_SUBJECT_TOKEN_FILE';

/** The file is named, and holds no token. Whoever named it wants no tool used without one. */
export class NoSubjectToken extends Error {
  override readonly name = 'NoSubjectToken';
}

/** Reads the token anew each time: it is renewed while a session lasts. Undefined if no file is named. */
export function readSubjectToken(file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  const token = textOf(file);
  if (token === '') throw new NoSubjectToken(`the file of ${subjectTokenVariable} is empty: ${file}`);
  return token;
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? ` (${String(error.code)})` : '';
    throw new NoSubjectToken(`the file of ${subjectTokenVariable} cannot be read: ${file}${code}`);
  }
}
