import { useQuery } from '@tanstack/react-query';
import { callRoute } from '../../api/call.ts';
import { useGrant } from '../../api/use-session.ts';
import { useNow } from '../../ui/now.ts';

/** After this many days prices may well have changed. */
const oldMs = 90 * 86_400_000;

/** Where the prices of models come from. Nothing for a tenant, which does not learn what the operator configures. */
export function PriceNote() {
  const now = useNow(10_000);
  const isBound = (useGrant()?.orgId ?? null) !== null;
  const { data } = useQuery({
    queryKey: ['listPrices'],
    queryFn: ({ signal }) => callRoute('listPrices', {}, { signal }),
    enabled: !isBound,
  });
  if (data === undefined) return null;
  const configured = data.items.filter(({ source }) => source === 'configured').length;
  const isOld = now - Date.parse(data.built_in.as_of) > oldMs;
  return (
    <span className="text-sm" title={data.built_in.source}>
      Model prices built in, {data.built_in.as_of}
      {isOld ? ' (old: upgrade, or configure your own)' : ''}
      {configured === 0 ? '' : `; ${configured} configured`}
    </span>
  );
}
