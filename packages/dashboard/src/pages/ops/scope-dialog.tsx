import { useQuery } from '@tanstack/react-query';
import { useId, useRef, useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import { useCan, useGrant } from '../../api/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { ConfirmDialog } from '../../ui/confirm-dialog.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { Skeleton } from '../../ui/skeleton.tsx';
import type { Reach, ScopeForm, ScopeJson } from './control-scope.ts';
import { formOf, needsAdmin, phraseOf, reaches, sayScope, scopeOf, suspendedBy } from './control-scope.ts';
import type { ControlAction } from './op.ts';
import type { OpsFilter } from './ops-search.ts';
import { HoldDialog } from './hold-dialog.tsx';
import { nameOf } from './receipt.ts';
import type { Row } from './row-model.ts';
import { ScopeFields } from './scope-fields.tsx';

const reachNames: Readonly<Record<Reach, string>> = {
  run: 'A run',
  agent: 'An agent',
  team: 'A team',
  org: 'A whole org',
  all: 'Everything',
};

type Wish = 'stop' | 'hold';

const wishes = [
  { value: 'stop', label: 'Stop what runs now', hint: 'Nothing keeps the agents from beginning something new.' },
  {
    value: 'hold',
    label: 'Hold everything until I resume',
    hint: 'Every check is denied too, also of agents that register later, until the suspension is lifted.',
  },
] as const satisfies readonly { readonly value: Wish; readonly label: string; readonly hint: string }[];

interface ScopeDialogProps {
  readonly rows: ReadonlyMap<string, Row>;
  readonly filter: OpsFilter;
  readonly onClose: () => void;
  /** The control was requested. The id leads to its receipts. */
  readonly onDone: (controlId: string) => void;
}

/** Controls everything in flight within a scope: first a preview, then a typed confirmation. */
export function ScopeDialog({ rows, filter, onClose, onDone }: ScopeDialogProps) {
  const isAdmin = useCan('admin');
  const { orgId: ownOrg = null, teamId = null } = useGrant() ?? {};
  const offered = reaches.filter((reach) => isAdmin || !needsAdmin(reach));
  const [form, setForm] = useState<ScopeForm>(() => {
    const named = formOf(withTeam({ ...filter, org_id: filter.org_id ?? ownOrg ?? undefined }, rows));
    return offered.includes(named.reach) ? named : { ...named, reach: 'run' };
  });
  const [action, setAction] = useState<ControlAction>('pause');
  const [wish, setWish] = useState<Wish>('stop');
  const [confirming, setConfirming] = useState<ScopeJson>();
  const scope = scopeOf(form);
  const preview = usePreview(action, scope);
  const holdable =
    scope === undefined || action === 'resume' ? undefined : suspendedBy(scope, { orgId: ownOrg, teamId });
  const isHold = wish === 'hold' && holdable !== undefined;

  if (confirming !== undefined) {
    if (isHold && action !== 'resume') {
      return <HoldDialog scope={confirming} action={action} onClose={onClose} onDone={onDone} />;
    }
    return <ConfirmScope scope={confirming} {...{ action, ownOrg, preview, onClose, onDone }} />;
  }
  return (
    <Dialog
      isOpen
      onClose={onClose}
      title="Control a scope"
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="primary"
            disabled={
              scope === undefined || preview.data === undefined || !(isHold || hasEffect(scope, preview.data.changed))
            }
            onClick={() => setConfirming(scope)}
          >
            Go on
          </Button>
        </>
      }
    >
      <div className="space-y-4">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Do what">
            <Select
              value={action}
              choices={(['pause', 'resume', 'terminate'] as const).map((value) => ({ value, label: nameOf(value) }))}
              onChange={setAction}
            />
          </Field>
          <Field label="To what">
            <Select
              value={form.reach}
              choices={offered.map((value) => ({ value, label: reachNames[value] }))}
              onChange={(reach) => setForm({ ...form, reach })}
            />
          </Field>
        </div>
        <ScopeFields form={form} rows={rows} onChange={setForm} />
        {holdable === undefined ? null : <WishFields wish={wish} onChange={setWish} />}
        {scope === undefined ? (
          <p className="text-muted">Name the scope to see what it would change.</p>
        ) : (
          <Preview action={action} preview={preview} />
        )}
      </div>
    </Dialog>
  );
}

interface ConfirmScopeProps extends Pick<ScopeDialogProps, 'onClose' | 'onDone'> {
  readonly action: ControlAction;
  readonly scope: ScopeJson;
  readonly ownOrg: string | null;
  readonly preview: PreviewQuery;
}

function ConfirmScope({ action, scope, ownOrg, preview, onClose, onDone }: ConfirmScopeProps) {
  const keys = useRef(new Map<string, string>());
  const control = async (reason: string) => {
    // The same request has the same idempotency key, so it happens once, however often it is sent.
    const same = JSON.stringify([action, scope, reason]);
    const key = keys.current.get(same) ?? newKey();
    keys.current.set(same, key);
    const answer = await callRoute('controlScope', {
      headers: { 'idempotency-key': key },
      body: { action, scope, reason },
    });
    if (answer.control_id !== null) onDone(answer.control_id);
  };
  const label = `${nameOf(action)} ${sayScope(scope, ownOrg)}`;
  return (
    <ConfirmDialog
      isOpen
      onClose={onClose}
      title={`${label}?`}
      confirmLabel={label}
      look={action === 'resume' ? 'primary' : 'danger'}
      typed={phraseOf(scope)}
      reason="required"
      onConfirm={control}
    >
      <Preview action={action} preview={preview} />
    </ConfirmDialog>
  );
}

function WishFields({ wish, onChange }: { readonly wish: Wish; readonly onChange: (wish: Wish) => void }) {
  const radios = useId();
  return (
    <fieldset className="space-y-2">
      <legend className="mb-1 text-sm font-medium">What happens</legend>
      {wishes.map(({ value, label, hint }) => (
        <label key={value} className="flex cursor-pointer items-start gap-2">
          <input
            type="radio"
            name={radios}
            className="mt-1"
            checked={wish === value}
            onChange={() => onChange(value)}
          />
          <span>
            {label}
            <span className="block text-sm text-muted">{hint}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** The filter may name an agent without its team. The rows tell the team. */
function withTeam(filter: OpsFilter, rows: ReadonlyMap<string, Row>): OpsFilter {
  const { org_id = '', team_id, agent_id } = filter;
  if (agent_id === undefined || team_id !== undefined) return filter;
  for (const { op } of rows.values()) {
    const { agent } = op;
    if (agent.agent_id === agent_id && agent.org_id === org_id) return { ...filter, team_id: agent.team_id };
  }
  return filter;
}

/** A control of a run also holds for what comes after, so it has an effect even if nothing is in flight. */
function hasEffect(scope: ScopeJson, changed: number): boolean {
  return changed > 0 || scope.run_id !== undefined;
}

function newKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

type PreviewQuery = ReturnType<typeof usePreview>;

/** A preview of what would change now. It changes nothing. */
function usePreview(action: ControlAction, scope: ScopeJson | undefined) {
  return useQuery({
    queryKey: ['controlScope', action, scope],
    queryFn: ({ signal }) => {
      if (scope === undefined) throw new Error('there is no scope');
      return callRoute('controlScope', { body: { action, scope, reason: '', dry_run: true } }, { signal });
    },
    enabled: scope !== undefined,
    staleTime: 0,
    refetchInterval: 10_000,
  });
}

const results: Readonly<Record<ControlAction, string>> = {
  pause: 'would be paused',
  resume: 'would go on',
  terminate: 'would be stopped',
};

function Preview({ action, preview }: { readonly action: ControlAction; readonly preview: PreviewQuery }) {
  const { data, error, refetch } = preview;
  if (error !== null) return <ErrorNotice error={error} title="No preview" onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton lines={2} label="Counting" className="p-0" />;
  return (
    <div role="status" aria-label="Preview" className="rounded-md border bg-sunken p-3">
      <p>
        <strong>{plural(data.matched, 'operation')}</strong> in flight, of which <strong>{data.changed}</strong>{' '}
        {results[action]}
        {data.skipped === 0 ? '.' : `; ${data.skipped} are in another state and stay as they are.`}
      </p>
      <p className="mt-1 text-sm text-muted">Counted just now. What begins until you confirm is included.</p>
    </div>
  );
}
