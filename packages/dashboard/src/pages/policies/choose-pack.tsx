import { useState } from 'react';
import { callRoute } from '../../api/call.ts';
import { plural } from '../../api/format.ts';
import { useAction } from '../../api/use-route.ts';
import { useCan, useGrant } from '../../api/use-session.ts';
import { Button } from '../../ui/button.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import type { PackName } from './policy-packs.ts';
import { documentsOf, packTitles } from './policy-packs.ts';

const names = Object.keys(packTitles) as readonly PackName[];

/** What to do where no policy is shown: where none is loaded, a pack is put in force by one click. */
export function ChoosePack() {
  const { orgId = null, teamId = null } = useGrant() ?? {};
  return orgId === null ? <FirstPack /> : <NoneOfOurs tenant={teamId === null ? orgId : `${orgId}/${teamId}`} />;
}

/** A tenant does not see the documents of wider scopes, which may well decide. */
function NoneOfOurs({ tenant }: { readonly tenant: string }) {
  const isAdmin = useCan('admin');
  return (
    <EmptyState icon="policies" title={`No policy of ${tenant} itself`}>
      Policies of wider scopes may be in force for it; whoever runs this gateway sees them. Each decision says which
      rule made it.
      {isAdmin ? ' “New document” writes one for it.' : null}
    </EmptyState>
  );
}

function FirstPack() {
  const isAdmin = useCan('admin');
  const [chosen, setChosen] = useState<PackName>();
  const put = useAction(putPack, {
    success: (count) => `In force: ${plural(count, 'document')}. Read and change them here.`,
    invalidates: ['listPolicies', 'getPolicy', 'policyVersions'],
    isFailureShown: true,
  });
  return (
    <EmptyState
      icon="policies"
      title="No policy is loaded, so everything is denied"
      {...(isAdmin ? {} : { command: 'reeve policy init policies' })}
    >
      {isAdmin ? (
        <>
          <p>Begin with a pack. Its documents come in force at once, and can be changed here:</p>
          <ul className="mt-3 space-y-2 text-left">
            {names.map((name) => (
              <li key={name} className="flex items-center justify-between gap-3 rounded-md border p-3">
                <span>
                  <span className="block font-medium text-text">{packTitles[name][0]}</span>
                  <span className="text-sm">{packTitles[name][1]}</span>
                </span>
                <Button
                  size="small"
                  aria-label={`Use the pack: ${packTitles[name][0]}`}
                  isPending={put.isPending && chosen === name}
                  disabled={put.isPending}
                  onClick={() => {
                    setChosen(name);
                    put.mutate(name);
                  }}
                >
                  Use
                </Button>
              </li>
            ))}
          </ul>
          {put.error === null ? null : <ErrorNotice error={put.error} title="Not all of it is in force" />}
        </>
      ) : (
        <p>An admin can write one here, or begin with the starter pack and name its folder with --policy:</p>
      )}
    </EmptyState>
  );
}

async function putPack(pack: PackName): Promise<number> {
  const { policyPacks } = await import('virtual:policy-packs');
  const documents = documentsOf(policyPacks[pack]);
  for (const { name, source } of documents) {
    const note = 'begun with a pack';
    await callRoute('putPolicy', { params: { name }, body: { source, note, base_version: 0 } });
  }
  return documents.length;
}
