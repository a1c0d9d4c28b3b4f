import { useState } from 'react';
import type { ApiFault } from '../../api/api-error.ts';
import { ApiError } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import type { Answer } from '../../api/send.ts';
import { useAction } from '../../api/use-route.ts';
import { useGrant } from '../../api/use-session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import type { Column } from '../../ui/column.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { SourceEditor } from './source-editor.tsx';
import { keptCases, keepCases } from './kept-cases.ts';

type Report = Answer<'testPolicies'>;
type CaseResult = Report['cases'][number];

const columns: readonly Column<CaseResult>[] = [
  {
    id: 'passed',
    header: 'Result',
    cell: ({ passed }) => <Badge tone={passed ? 'ok' : 'danger'}>{passed ? 'passed' : 'failed'}</Badge>,
  },
  { id: 'case', header: 'Case', cell: (one) => one.case },
  {
    id: 'differs',
    header: 'Difference',
    cell: ({ passed, differs, expected, actual, problem }) => {
      if (problem !== null) return problem;
      return passed
        ? null
        : differs.map((name) => `${name}: ${said(actual, name)}, not ${said(expected, name)}`).join('; ');
    },
  },
  { id: 'line', header: 'Line', align: 'right', isWideOnly: true, cell: ({ line }) => line },
];

/** Cases beside a document: who asks for what, and what the answer must be. This browser stores them. */
export function CasesPanel({ name, candidate }: { readonly name: string; readonly candidate: string }) {
  const isBound = (useGrant()?.orgId ?? null) !== null;
  const [cases, setCases] = useState(() => keptCases(name));
  const [place, setPlace] = useState<ApiFault>();
  const test = useAction(() => callRoute('testPolicies', { body: { cases, candidate, merge: true } }), {
    isFailureShown: true,
  });
  const faults = test.error instanceof ApiError ? test.error.errors.filter(({ file }) => file === 'cases') : [];
  if (isBound) {
    return (
      <p className="text-muted">
        Cases are judged for credentials that are bound to no org. Simulate a request instead.
      </p>
    );
  }
  return (
    <div className="space-y-4">
      <Card isFlush>
        <SourceEditor
          label="Cases"
          text={cases}
          faults={faults}
          place={place}
          className="h-72"
          onChange={(text) => {
            setCases(text);
            keepCases(name, text);
          }}
        />
      </Card>
      <div className="flex flex-wrap items-center gap-3">
        <Button look="primary" isPending={test.isPending} onClick={() => test.mutate()}>
          Run the cases
        </Button>
        <p className="text-sm text-muted">
          Kept in this browser. In a repository they live in <code>.cases/</code> beside the policies, for{' '}
          <code>reeve policy test</code>.
        </p>
      </div>
      {test.error === null ? null : (
        <>
          <ErrorNotice error={test.error} title="The cases could not be judged" />
          {faults[0] === undefined ? null : (
            <Button size="small" onClick={() => setPlace({ ...faults[0] })}>
              Go to line {faults[0].line}
            </Button>
          )}
        </>
      )}
      {test.data === undefined ? null : <ReportCard report={test.data} />}
    </div>
  );
}

function ReportCard({ report: { passed, failed, cases, coverage } }: { readonly report: Report }) {
  return (
    <Card
      isFlush
      title={
        <span role="status">
          {plural(passed, 'case')} passed, {failed} failed; {coverage.reached} of {plural(coverage.rules, 'rule')}{' '}
          reached
        </span>
      }
    >
      <DataTable caption="Cases" columns={columns} rows={cases} rowKey={({ line }) => String(line)} />
      {coverage.unreached.length === 0 ? null : (
        <p className="border-t px-4 py-3 text-sm text-muted">
          Reached by no case: <span className="break-words">{coverage.unreached.join(', ')}</span>
        </p>
      )}
    </Card>
  );
}

function said(answer: Readonly<Record<string, unknown>>, member: string): string {
  const value = answer[member];
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}
