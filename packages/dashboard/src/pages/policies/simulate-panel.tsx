import { actionName } from '../../api/action-name.ts';
import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import type { Answer } from '../../api/send.ts';
import { useAction } from '../../api/use-route.ts';
import { StateBadge } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Field, Select, TextArea, TextInput } from '../../ui/field.tsx';
import { Money } from '../../ui/money.tsx';
import { ConsideredRules } from './considered-rules.tsx';
import type { RequestForm } from './simulated-request.ts';
import { actionTypes, faultsOf, requestOf, resourceLabel } from './simulated-request.ts';

interface SimulatePanelProps {
  /** The text in the editor, if it is to be tried instead of the policies in force. */
  readonly candidate: string | undefined;
}

const start: RequestForm = {
  agent: 'acme/support/helper',
  type: 'tool_call',
  resource: 'search',
  args: '',
  cost: '',
  user: '',
  result: '',
};

/** Simulates the answer to a request. Nothing is recorded or charged. */
export function SimulatePanel({ candidate }: SimulatePanelProps) {
  const [form, setForm] = useState(start);
  const [isShown, setShown] = useState(false);
  const faults = isShown ? faultsOf(form) : {};
  const set = (changed: Partial<RequestForm>) => setForm((before) => ({ ...before, ...changed }));
  const simulate = useAction(
    () => {
      const body = { ...requestOf(form), ...(candidate === undefined ? {} : { candidate, merge: true }) };
      return callRoute('simulatePolicy', { body });
    },
    { isFailureShown: true },
  );
  return (
    <div className="space-y-4">
      <Card title="A request">
        <form
          className="grid grid-cols-1 gap-3 sm:grid-cols-2"
          onSubmit={(event) => {
            event.preventDefault();
            setShown(true);
            if (Object.keys(faultsOf(form)).length === 0) simulate.mutate();
          }}
        >
          <Field label="Agent" hint="org/team/agent; it need not be registered" error={faults.agent}>
            <TextInput value={form.agent} onChange={(event) => set({ agent: event.target.value })} />
          </Field>
          <Field label="Action">
            <Select
              value={form.type}
              choices={actionTypes.map((value) => ({ value, label: actionName(value) ?? value }))}
              onChange={(type) => set({ type })}
            />
          </Field>
          <Field label={resourceLabel[form.type]}>
            <TextInput value={form.resource} onChange={(event) => set({ resource: event.target.value })} />
          </Field>
          <Field label="Cost in dollars (optional)" error={faults.cost}>
            <TextInput inputMode="decimal" value={form.cost} onChange={(event) => set({ cost: event.target.value })} />
          </Field>
          <Field label="For the user (optional)" hint="an email, or JSON" error={faults.user} className="sm:col-span-2">
            <TextInput value={form.user} onChange={(event) => set({ user: event.target.value })} />
          </Field>
          <Field label="Arguments as JSON (optional)" error={faults.args} className="sm:col-span-2">
            <TextArea
              value={form.args}
              spellCheck={false}
              className="font-mono text-sm"
              onChange={(event) => set({ args: event.target.value })}
            />
          </Field>
          <Field
            label="Result (optional)"
            hint="what the call brings back: JSON, or any text"
            className="sm:col-span-2"
          >
            <TextArea
              value={form.result}
              spellCheck={false}
              className="font-mono text-sm"
              onChange={(event) => set({ result: event.target.value })}
            />
          </Field>
          <div className="flex flex-wrap items-center gap-3 sm:col-span-2">
            <Button type="submit" look="primary" isPending={simulate.isPending}>
              Simulate
            </Button>
            <p className="text-sm text-muted">
              {candidate === undefined
                ? 'By the policies in force.'
                : 'By the policies in force, with the text in the editor in place of this document.'}
            </p>
          </div>
        </form>
      </Card>
      {simulate.error === null ? null : <ErrorNotice error={simulate.error} title="It could not be simulated" />}
      {simulate.data === undefined ? null : <SimulatedAnswer answer={simulate.data} />}
      {simulate.data?.result == null ? null : <SimulatedResult result={simulate.data.result} />}
    </div>
  );
}

function SimulatedAnswer({ answer }: { readonly answer: Answer<'simulatePolicy'> }) {
  const { approvals } = answer;
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          Answer <StateBadge state={answer.decision} />
        </span>
      }
      isFlush
    >
      <div role="status" className="space-y-1 p-4">
        <p>{answer.reason}</p>
        <p className="text-sm text-muted">
          Rule <code className="break-all">{answer.policy_rule}</code>, cost <Money micros={answer.cost_micros} />
          {answer.price === null ? null : ` (price ${answer.price})`}
        </p>
        {approvals === null ? null : (
          <p className="text-sm text-muted">
            {approvals.count} {approvals.count === 1 ? 'approval' : 'approvals'} needed within {approvals.ttl_secs} s,{' '}
            {approvals.grants ? 'which may be granted for longer' : 'for this once only'}
            {approvals.rules.length > 1 ? `; asked by ${approvals.rules.join(', ')}` : ''}
          </p>
        )}
        {answer.labels.length === 0 ? null : <p className="text-sm text-muted">Labels: {answer.labels.join(', ')}</p>}
        {answer.judge_result ? <p className="text-sm text-muted">Its result is to be judged.</p> : null}
      </div>
      <ConsideredRules rules={answer.rules} />
    </Card>
  );
}

function SimulatedResult({ result }: { readonly result: NonNullable<Answer<'simulatePolicy'>['result']> }) {
  const { effect, reason, policy_rule: rule, masked, labels, rules } = result;
  return (
    <Card
      title={
        <span className="flex items-center gap-2">
          Result <StateBadge state={effect} />
        </span>
      }
      isFlush
    >
      <div role="status" className="space-y-1 p-4">
        <p>{reason}</p>
        <p className="text-sm text-muted">
          Rule <code className="break-all">{rule}</code>
        </p>
        {masked === null ? null : <pre className="overflow-x-auto whitespace-pre-wrap break-all text-sm">{masked}</pre>}
        {labels.length === 0 ? null : <p className="text-sm text-muted">Labels: {labels.join(', ')}</p>}
      </div>
      <ConsideredRules rules={rules} />
    </Card>
  );
}
