import { kind } from './failure-kind.ts'

/** Why a card is not used, loaded, replaced or emptied. */
export const CARD_FAILURES = {
  card_balance_too_low: kind(
    422,
    'BUSINESS_ERROR',
    'The balance of the card, less what is held of it, is too low',
    'Choose an amount of at most `openToBuy` of the exact balance, `GET /api/v0/partner/svcCard/{svcCardId}/balance`.',
  ),
  card_ended: kind(
    409,
    'CONFLICT_ERROR',
    'The card is blocked or expired',
    'Replace it, which moves its balance to the new card, or return its balance to the card account.',
  ),
  card_not_reloadable: kind(
    422,
    'BUSINESS_ERROR',
    'Cards of this account type are loaded once',
    'A gift card is not reloadable: issue another one, or use a card account of another type.',
  ),
  load_reference_in_use: kind(
    409,
    'CONFLICT_ERROR',
    'Another load or unload has this referenceNumber',
    'Repeat the first request unchanged to get its response, or use another `referenceNumber`.',
  ),
  unload_not_allowed: kind(
    422,
    'BUSINESS_ERROR',
    'Money of this card may not be taken back',
    'Set `unallocateFundAllowed` of its card account; money of a gift card is never taken back.',
  ),
  withdrawal_reference_used: kind(
    409,
    'CONFLICT_ERROR',
    'This bank reference was entered before, for another partner, card account or amount',
    'Compare with the bank statement: each transfer to a partner is entered once.',
  ),
  funding_not_set_up: kind(
    422,
    'BUSINESS_ERROR',
    'Funding by bank transfer is not set up',
    'Ask the operator of the service where to transfer the money; the operator sets FUNDING_IFSC.',
  ),
  card_not_usable: kind(
    422,
    'BUSINESS_ERROR',
    'The card is not unlocked, not activated or expired',
    'Unlock or activate the card; a blocked or expired card stays unusable.',
  ),
  declined_by_spend_rule: kind(
    422,
    'BUSINESS_ERROR',
    'A spend rule declines it',
    'The description names the rule, and why it declines. Read it with `GET /api/v0/partner/spend-rules/{spendRuleId}`; remove it, or spend within it.',
  ),
  channel_not_allowed: kind(
    422,
    'BUSINESS_ERROR',
    'The card may not be used in this channel',
    'Both the user’s flag and the admin’s flag of the channel must be on.',
  ),
  card_not_ended: kind(
    409,
    'CONFLICT_ERROR',
    'The card is neither blocked nor expired',
    'Block the card first, or wait for its expiry; money on a card in use stays its holder’s to spend.',
  ),
  order_reference_in_use: kind(
    409,
    'CONFLICT_ERROR',
    'A card was ordered with this referenceNumber and other fields',
    'Repeat the first order unchanged to get its card, or use another `referenceNumber`.',
  ),
  nothing_left: kind(
    422,
    'BUSINESS_ERROR',
    'Nothing that could be moved is left on the card',
    'What the card network holds stays until it is captured or released; repeat the request afterwards.',
  ),
  return_waiting: kind(
    409,
    'CONFLICT_ERROR',
    'Money of this card is on its way back to the card account',
    'Wait until it has been returned, or have an operator put it back on the card.',
  ),
  return_not_found: kind(
    404,
    'NOT_FOUND_ERROR',
    'No such return of money from a card',
    'List the returns with `svc admin cards returns`.',
  ),
  return_closed: kind(
    409,
    'CONFLICT_ERROR',
    'The money has been returned to the card account',
    'It can be put back on the card only as long as it waits.',
  ),
} as const
