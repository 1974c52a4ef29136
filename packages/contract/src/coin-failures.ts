import { type FailureKind, kind } from './failure-kind.ts'

/** Failures of coins. */
export const COIN_FAILURES = {
  coin_config_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Coin configuration not found',
    'Use the `coinConfigId` that the create operation returned, with a token of the same partner.',
  ),
  coin_allocation_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Coin allocation not found',
    'Use the `allocationId` that the allocation returned, with a token of the same partner.',
  ),
  coin_config_overlaps: kind(
    409,
    'CONFLICT_ERROR',
    'Another active configuration covers this event at the same time',
    'End or deactivate the other one, or choose a validity that does not overlap.',
  ),
  coin_allocation_voided: kind(
    409,
    'CONFLICT_ERROR',
    'The coin allocation is voided',
    'An allocation is voided once, and not confirmed afterwards. Repeat the same `requestId` to get the first response.',
  ),
  coin_allocation_not_awaiting_confirmation: kind(
    409,
    'CONFLICT_ERROR',
    'The coin allocation does not wait for confirmation',
    'Confirm only allocations of a configuration with `activation` `CONFIRMATION`; others become active by themselves.',
  ),
  no_coin_config: kind(
    422,
    'BUSINESS_ERROR',
    'No active configuration covers this event at that time',
    'Create a configuration for the event, or check its validity; `dryRun` lists the configurations that were considered.',
  ),
  coin_daily_limit_reached: kind(
    422,
    'BUSINESS_ERROR',
    'The award exceeds the daily limit of this user',
    'Nothing was awarded. The limit counts from midnight in the business time zone.',
  ),
  insufficient_coins: kind(
    422,
    'BUSINESS_ERROR',
    'Insufficient coins',
    'Redeem at most the `active` coins of the balance; expired coins are gone.',
  ),
} as const satisfies Record<string, FailureKind>
