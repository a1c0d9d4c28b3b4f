import { formatUsd, microsToUsd } from '../api/format.ts';
import { Unknown } from './unknown.tsx';

interface MoneyProps {
  /** A decimal string, as the gateway writes it. Null if unknown. */
  readonly usd?: string | null | undefined;
  /** Or millionths of a dollar. */
  readonly micros?: number | null | undefined;
}

/** An amount in US dollars, formatted by its digits: it never becomes a float. */
export function Money({ usd, micros }: MoneyProps) {
  const amount = usd ?? (typeof micros === 'number' ? microsToUsd(micros) : undefined);
  if (amount === undefined || amount === null) return <Unknown />;
  return (
    <span title={`${amount} USD`} className="whitespace-nowrap">
      {formatUsd(amount)}
    </span>
  );
}
