import { Link } from '@tanstack/react-router';
import { useRoute } from '../../api/use-route.ts';
import { useGrant } from '../../api/use-session.ts';
import { buttonClasses } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';

/** Says of a gateway without a policy that it denies everything. A tenant may not see the documents that decide. */
export function NoPolicyCard() {
  const grant = useGrant();
  const policies = useRoute('listPolicies', { query: { per_page: 1 } });
  if (grant === undefined || grant.orgId !== null || policies.data?.items.length !== 0) return null;
  return (
    <div
      role="status"
      className="flex flex-wrap items-center gap-x-3 gap-y-2 rounded-lg border border-warn/40 bg-warn-soft p-4"
    >
      <Icon name="alert" className="text-warn" />
      <p className="min-w-0 flex-1 basis-60">
        <strong className="text-warn">No policy is loaded, so everything is denied.</strong> Begin with a pack, or write
        a document.
      </p>
      <Link to="/policies" className={buttonClasses('primary')}>
        Choose policies
      </Link>
    </div>
  );
}
