import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { ApiFault } from '../../api/api-error.ts';
import { callRoute } from '../../api/call.ts';

interface Validation {
  /** Undefined while the text is being checked. */
  readonly faults: readonly ApiFault[] | undefined;
  readonly error: unknown;
}

const none: readonly ApiFault[] = [];

/** The gateway's verdict on a text, once typing pauses. */
export function useValidation(source: string, name: string | undefined): Validation {
  const [settled, setSettled] = useState(source);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(source), 400);
    return () => clearTimeout(timer);
  }, [source]);
  const query = useQuery({
    queryKey: ['validatePolicy', name, settled],
    queryFn: ({ signal }) =>
      callRoute('validatePolicy', { body: { source: settled, ...(name === undefined ? {} : { name }) } }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: 60_000,
  });
  const isCurrent = settled === source && !query.isPlaceholderData;
  return {
    faults: isCurrent ? (query.data?.errors ?? (query.data === undefined ? undefined : none)) : undefined,
    error: query.error,
  };
}
