import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { useAction, useRoute } from '../../api/use-route.ts';
import { useCan, useGrant } from '../../api/use-session.ts';
import { Badge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Loaded } from '../../ui/loaded.tsx';
import { Time } from '../../ui/time.tsx';
import type { Policy, PolicyVersion } from './policy-list.ts';
import { isChangeable } from './policy-list.ts';
import { VersionDiff } from './version-diff.tsx';

interface VersionsPanelProps {
  readonly name: string;
  readonly origin: 'file' | 'store';
  /** The width that a credential needs to change the document. */
  readonly width: Policy['width'];
}

/** Who stored what and when, what it changed, and how to roll back. */
export function VersionsPanel({ name, origin, width }: VersionsPanelProps) {
  const grant = useGrant();
  const canRollBack = useCan('admin') && grant !== undefined && isChangeable({ width }, grant);
  const versions = useRoute(
    'policyVersions',
    { params: { name }, query: { per_page: 200 } },
    { enabled: origin === 'store' },
  );
  if (origin === 'file') {
    return (
      <Card>
        <EmptyState icon="policies" title="A file has no versions here" command="reeve policy push policies/">
          Keep it in version control, or store the document in the gateway:
        </EmptyState>
      </Card>
    );
  }
  return (
    <Loaded query={versions} what="The versions">
      {({ items }) => (
        <ol className="space-y-3">
          {items.map((version, index) => (
            <li key={version.version}>
              <VersionCard name={name} version={version} before={items[index + 1]} canRollBack={canRollBack} />
            </li>
          ))}
        </ol>
      )}
    </Loaded>
  );
}

interface VersionCardProps {
  readonly name: string;
  readonly version: PolicyVersion;
  readonly before: PolicyVersion | undefined;
  readonly canRollBack: boolean;
}

function VersionCard({ name, version, before, canRollBack }: VersionCardProps) {
  const [isAsked, setAsked] = useState(false);
  const [isOpen, setOpen] = useState(version.current);
  const rollback = useAction(
    () => callRoute('rollbackPolicy', { params: { name }, body: { version: version.version } }),
    {
      success: (stored) => `Version ${version.version} is in force again, as version ${stored.version}.`,
      invalidates: ['listPolicies', 'getPolicy', 'policyVersions'],
      isFailureShown: true,
    },
  );
  const by = version.saved_by.label === '' ? version.saved_by.id : version.saved_by.label;
  return (
    <Card
      title={
        <span className="flex flex-wrap items-center gap-2">
          Version {version.version}
          {version.current ? <Badge tone="ok">in force</Badge> : null}
          {version.source === null ? <Badge tone="warn">taken out of force</Badge> : null}
        </span>
      }
      actions={
        <>
          <span className="text-muted">
            {by}, <Time at={version.saved_at} />
          </span>
          {canRollBack && !version.current && version.source !== null ? (
            <Button size="small" onClick={() => setAsked(true)}>
              Roll back to it
            </Button>
          ) : null}
        </>
      }
    >
      <div className="space-y-2">
        {version.note === '' ? null : <p>{version.note}</p>}
        <details open={isOpen} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary className="w-fit rounded-sm py-1 text-sm font-medium text-accent">What it changed</summary>
          {isOpen ? (
            <div className="mt-1 overflow-hidden rounded-md border">
              <VersionDiff
                before={before?.source ?? ''}
                after={version.source ?? ''}
                label={`Changes of version ${version.version}`}
              />
            </div>
          ) : null}
        </details>
      </div>
      <ConfirmDialog
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        title={`Roll back to version ${version.version}`}
        confirmLabel="Roll back"
        onConfirm={() => rollback.mutateAsync()}
      >
        <p>Its text is stored as a new version and put in force at once. Nothing is lost.</p>
      </ConfirmDialog>
    </Card>
  );
}
