import type { Finding, TenantReport } from './notebook.ts';

/** A report for people: what was tried, then each operation with its faults, without repetition. */
export function formatReport({ findings, tried }: TenantReport): string {
  const operations = Object.values(tried.operations);
  const reached = operations.filter((calls) => calls > 0).length;
  const summary = [
    `Tried ${reached} of ${operations.length} operations with ${tried.credentials} credentials:`,
    `${tried.calls} calls, ${tried.comparisons} of them compared with calls for what does not exist.`,
  ].join(' ');
  if (findings.length === 0) return `${summary}\nTenants cannot see or touch each other.\n`;
  const blocks = [...Map.groupBy(findings, ({ operation }) => operation)].map(([operation, found]) =>
    [operation, ...linesOf(found)].join('\n'),
  );
  const count = findings.length === 1 ? '1 finding' : `${findings.length} findings`;
  return `${summary}\n${count}:\n\n${blocks.join('\n\n')}\n`;
}

function linesOf(findings: readonly Finding[]): string[] {
  return [...Map.groupBy(findings, ({ what }) => what)].map(
    ([what, alike]) => `  ${what} (${[...new Set(alike.map(({ credential }) => credential))].join(', ')})`,
  );
}
