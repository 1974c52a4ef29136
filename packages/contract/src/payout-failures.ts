import { type FailureKind, kind } from './failure-kind.ts'

/** Errors of what leaves, refunds and payouts to merchants (decisions Q14, Q15), and of postings (decision R10). */
export const PAYOUT_FAILURES = {
  refund_closed: kind(
    409,
    'CONFLICT_ERROR',
    'The refund has another outcome already',
    'A refund is `REFUNDED` or `FAILED` for good. After a failed one, create a new one.',
  ),
  dispute_closed: kind(
    409,
    'CONFLICT_ERROR',
    'The dispute does not allow this any more',
    'Evidence is submitted once, before `evidenceDueOn`; `ACCEPTED`, `WON` and `LOST` are final.',
  ),
  suspense_resolved: kind(
    409,
    'CONFLICT_ERROR',
    'The payment is not in suspense',
    'Check the payment: it was assigned or returned before, or never was in suspense.',
  ),
  payment_not_returning: kind(
    409,
    'CONFLICT_ERROR',
    'The payment does not go back to its payer',
    'Only what is `REFUND_PENDING` is recorded as returned. Mark a credit in suspense to be returned first; an accepted payment is refunded.',
  ),
  payout_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Payout not found',
    'Check the id; list payouts to find it.',
  ),
  payout_state: kind(
    409,
    'CONFLICT_ERROR',
    'The status of the payout does not allow this',
    'A payout is approved, sent and completed in this order; `CANCELLED` is final.',
  ),
  nothing_to_pay_out: kind(
    409,
    'CONFLICT_ERROR',
    'Nothing is to be paid out',
    'Accept payments first; refunds and fees that exceed them are carried forward.',
  ),
  business_day_not_over: kind(
    409,
    'CONFLICT_ERROR',
    'The business day is not over',
    'Prepare payouts a minute after the end of the business day, as `BUSINESS_DAY_CUTOFF` says.',
  ),
  payout_same_person: kind(
    403,
    'AUTHORIZATION_ERROR',
    'The operator who prepared a payout or set its bank account cannot approve it',
    'Let another person approve it: an operator whom that one created, invited, promoted or reset within `APPROVER_COOLING_DAYS` is not another person.',
  ),
  period_closed: kind(
    409,
    'CONFLICT_ERROR',
    'The period is closed already',
    'Close a later day: `svc admin books closings` lists what is closed.',
  ),
  period_not_over: kind(
    409,
    'CONFLICT_ERROR',
    'The period is not over',
    'Close a day an hour after its end at the earliest.',
  ),
  approval_required: kind(
    403,
    'AUTHORIZATION_ERROR',
    'A posting of this amount needs the approval of a second person',
    'Request it; another operator approves it.',
  ),
  approval_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'Approval not found',
    'List them: `svc admin approval list`, `svc admin operator requests`.',
  ),
  approval_closed: kind(
    409,
    'CONFLICT_ERROR',
    'The approval was decided before, or has expired',
    'Request it again.',
  ),
  approval_same_person: kind(
    403,
    'AUTHORIZATION_ERROR',
    'The operator who requested it cannot approve it',
    'Let another person approve it: an operator whom that one created, invited, promoted or reset within `APPROVER_COOLING_DAYS` is not another person.',
  ),
  approval_open: kind(
    409,
    'CONFLICT_ERROR',
    'The same waits for approval already',
    'Have the open one approved or rejected first.',
  ),
  adjustment_reference_used: kind(
    409,
    'CONFLICT_ERROR',
    'This bank reference was entered before, for another payment or amount',
    'Compare with what the bank wrote: each of its corrections is entered once.',
  ),
  adjustment_refused: kind(
    409,
    'CONFLICT_ERROR',
    'The payment cannot be adjusted to this amount',
    'The description says why.',
  ),
  settlement_reference_used: kind(
    409,
    'CONFLICT_ERROR',
    'This reference was entered before, for another account, amount or outcome',
    'Compare with the bank statement: each transfer is entered once.',
  ),
  account_not_settled: kind(
    409,
    'CONFLICT_ERROR',
    'The balance of this ledger account does not end outside',
    'Only card exceptions and advances to merchants are settled so. All others end by their own operations.',
  ),
  balance_not_open: kind(
    422,
    'BUSINESS_ERROR',
    'The ledger account has less open than this',
    'The description says how much is open, and on which side.',
  ),
  opening_balance_entered: kind(
    409,
    'CONFLICT_ERROR',
    'The ledger account has an opening balance',
    'Compare with the first one, which the description names. Reverse its journal before you import another.',
  ),
  effective_date_not_open: kind(
    422,
    'BUSINESS_ERROR',
    'The effective date is in the future or in a closed period',
    'Use a day of an open period, today at the latest: `svc admin books closings` lists what is closed.',
  ),
  journal_not_reversible: kind(
    409,
    'CONFLICT_ERROR',
    'The journal cannot be reversed',
    'The description says how to correct it.',
  ),
} as const satisfies Record<string, FailureKind>
