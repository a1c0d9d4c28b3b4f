import type { RouteName } from '@reeve/contract/http';
import type { QueryKey, UseMutationResult, UseQueryResult } from '@tanstack/react-query';
import { keepPreviousData, queryOptions, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { toast } from '../ui/toast.ts';
import { messageOf } from './api-error.ts';
import { callRoute } from './call.ts';
import type { Answer, RequestOf } from './send.ts';

/** A call of the gateway as a query. Its key is the name of the route and the request. */
export function routeQuery<Name extends RouteName>(name: Name, request: RequestOf<Name> = {} as RequestOf<Name>) {
  return queryOptions<Answer<Name>>({
    queryKey: [name, request],
    queryFn: ({ signal }) => callRoute(name, request, { signal }),
  });
}

interface RouteOptions {
  readonly enabled?: boolean;
  /** For numbers without events. */
  readonly refetchInterval?: number;
  /** Shows the former answer until the answer for the changed filter arrives. */
  readonly keepPrevious?: boolean;
}

/** The answer of a route, refreshed after gaps of the event stream and by `invalidates` of actions. */
export function useRoute<Name extends RouteName>(
  name: Name,
  request: RequestOf<Name> = {} as RequestOf<Name>,
  { keepPrevious = false, ...options }: RouteOptions = {},
): UseQueryResult<Answer<Name>> {
  return useQuery({
    ...routeQuery(name, request),
    ...options,
    ...(keepPrevious ? { placeholderData: keepPreviousData } : {}),
  });
}

interface ActionOptions<Result, Input> {
  /** The message for the person on success. */
  readonly success?: (result: Result, input: Input) => string;
  /** The routes whose answers this action changes. */
  readonly invalidates?: readonly RouteName[];
  /** The form shows the failure itself, without a toast. */
  readonly isFailureShown?: boolean;
  readonly onSuccess?: (result: Result, input: Input) => void;
}

/** An action of a person: pending, then a toast with the result. */
export function useAction<Result, Input = void>(
  act: (input: Input) => Promise<Result>,
  { success, invalidates = [], isFailureShown = false, onSuccess }: ActionOptions<Result, Input> = {},
): UseMutationResult<Result, Error, Input> {
  const client = useQueryClient();
  return useMutation({
    mutationFn: act,
    onSuccess: (result, input) => {
      if (success !== undefined) toast.ok(success(result, input));
      onSuccess?.(result, input);
      for (const name of invalidates) void client.invalidateQueries({ queryKey: [name] satisfies QueryKey });
    },
    onError: (error) => {
      if (!isFailureShown) toast.failed(messageOf(error));
    },
  });
}
