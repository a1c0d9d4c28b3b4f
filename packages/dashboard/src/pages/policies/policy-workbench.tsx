import { useRoute } from '../../api/use-route.ts';
import { Loaded } from '../../ui/loaded.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { BacktestPanel } from './backtest-panel.tsx';
import { CasesPanel } from './cases-panel.tsx';
import { useDraft } from './draft.ts';
import { EditPanel } from './edit-panel.tsx';
import type { PolicyTab } from './policies-search.ts';
import type { PolicyText } from './policy-list.ts';
import { SimulatePanel } from './simulate-panel.tsx';
import { VersionsPanel } from './versions-panel.tsx';

interface WorkbenchProps {
  readonly tab: PolicyTab;
  readonly onTab: (tab: PolicyTab) => void;
  readonly onStored: (name: string) => void;
  readonly onRemoved: () => void;
}

/** All actions on one document in force. */
export function PolicyWorkbench({ name, ...props }: WorkbenchProps & { readonly name: string }) {
  const policy = useRoute('getPolicy', { params: { name } });
  return (
    <Loaded query={policy} what="The document">
      {(text) => <Bench key={text.name} policy={text} {...props} />}
    </Loaded>
  );
}

/** The same for a document that is being written. */
export function NewPolicyWorkbench(props: WorkbenchProps) {
  return <Bench policy={undefined} {...props} />;
}

const labels: Readonly<Record<PolicyTab, string>> = {
  edit: 'Document',
  versions: 'Versions',
  simulate: 'Simulate',
  backtest: 'Backtest',
  cases: 'Cases',
};

function Bench({
  policy,
  tab,
  onTab,
  onStored,
  onRemoved,
}: WorkbenchProps & { readonly policy: PolicyText | undefined }) {
  const kept = useDraft(policy);
  const { source, base } = kept.draft;
  const tabs = (Object.keys(labels) as PolicyTab[]).filter((each) => policy !== undefined || each !== 'versions');
  const shown = tabs.includes(tab) ? tab : 'edit';
  const isChanged = base === undefined || source !== base.source;
  return (
    <Tabs
      label="What to do with the document"
      tabs={tabs.map((value) => ({
        value,
        label: value === 'edit' && isChanged ? `${labels[value]} (changed)` : labels[value],
      }))}
      value={shown}
      onChange={onTab}
    >
      {shown === 'edit' ? <EditPanel {...kept} onStored={onStored} onRemoved={onRemoved} /> : null}
      {shown === 'versions' && policy !== undefined ? (
        <VersionsPanel name={policy.name} origin={policy.origin} width={policy.width} />
      ) : null}
      {shown === 'simulate' ? <SimulatePanel candidate={isChanged ? source : undefined} /> : null}
      {shown === 'backtest' ? <BacktestPanel candidate={source} /> : null}
      {shown === 'cases' ? <CasesPanel name={policy?.name ?? 'new'} candidate={source} /> : null}
    </Tabs>
  );
}
