import type { CaseReport, OfflineDocument, OfflinePolicies, OfflineTest } from '@reeve/gateway/offline-policies';
import { CliError } from '../cli-error.ts';

/**
 * Commands that judge policies without a gateway use the gateway's own parser and evaluator. A second implementation
 * would disagree some day. It is loaded only here, and only when such a command runs.
 */

export type { CaseReport, OfflineDocument, OfflinePolicies, OfflineTest };

export async function validateOffline(path: string): Promise<OfflinePolicies> {
  const { validatePolicies } = await import('@reeve/gateway/offline-policies');
  return reading(() => validatePolicies(path));
}

export async function testOffline(path: string, casePaths: readonly string[]): Promise<OfflineTest> {
  const { testPolicyFiles } = await import('@reeve/gateway/offline-policies');
  return reading(() => testPolicyFiles(path, casePaths));
}

/** The valid documents of a file or folder. Otherwise throws, and says what is wrong and where. */
export async function readDocuments(path: string): Promise<readonly OfflineDocument[]> {
  const { documents, problems } = await validateOffline(path);
  if (problems.length > 0) throw new CliError(problemLines(problems).join('\n'), { bare: true });
  if (documents.length === 0) throw new CliError(`there is no policy in ${path}`);
  return documents;
}

/** The text of a candidate for the gateway to judge. */
export async function readCandidate(path: string): Promise<string> {
  const documents = await readDocuments(path);
  const { joinDocuments } = await import('@reeve/gateway/offline-policies');
  return joinDocuments(documents);
}

export function problemLines(problems: OfflinePolicies['problems']): string[] {
  return problems.map(({ file, line, column, message }) => `${file}:${line}:${column}: ${message}`);
}

function reading<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    // The message names the path, because there may be several.
    throw new CliError(error instanceof Error ? error.message : String(error), { cause: error });
  }
}
