import { lastDayOf } from '@svc/core/payments/fees/gst'
import { monthName } from '../../apps/console/src/words.ts'
import type { MoneyWorld } from './money-world.ts'
import type { World } from './world.ts'

type Place = readonly [path: string, heading: string, seen: string]

/** Pages of files of banks and of closing. */
function placesOfBankFiles(world: MoneyWorld): readonly Place[] {
  const closing = `/close/${lastDayOf(world.payoutDay.slice(0, 7))}`
  return [
    ['/settlements', 'Settlements', world.batchUtr],
    ['/bank-files', 'Bank files', 'Drop files of the bank here'],
    ['/bank-files/out', 'Files to the bank', 'Next file'],
    ['/settlements/open-lines', 'Lines that do not fit', 'NOSUCHPAYMENT1'],
    [`/settlements/${world.batchId}`, `Transfer ${world.batchUtr}`, 'NOSUCHPAYMENT1'],
    ['/statements', 'Statement lines', 'STRAY0000077'],
    ['/close', 'Close', 'Running'],
    [closing, monthName(world.payoutDay), 'Fees are in invoices'],
    [`${closing}?tab=balance`, monthName(world.payoutDay), 'They are equal.'],
    [`${closing}?tab=proof`, monthName(world.payoutDay), 'Escrow of merchants'],
    [`${closing}?tab=tax`, monthName(world.payoutDay), 'GSTR-1'],
  ]
}

/** Every page of the console with something on it: its path, its heading, and a text that is seen on it. */
export const placesOf = (world: World & MoneyWorld): readonly Place[] => [
  ['/', 'Home', 'The books add up'],
  ['/status', 'Status', 'Not stored by the service'],
  ['/alerts', 'Alerts', 'Notices in quarantine'],
  ['/approvals', 'Approvals', 'Nothing waits for approval'],
  ['/requests', 'Requests', 'card_balance_too_low'],
  [`/requests/${world.badJweRequestId}`, 'createGiftCard', 'Not opened'],
  [`/requests/${world.refusedSpendId}`, 'sandboxSpend', 'Why did this fail?'],
  ['/webhooks', 'Webhooks', world.hookUrl],
  [`/webhooks/${world.endpointId}`, world.hookUrl, 'Failed: 500'],
  ['/merchants', 'Merchants', world.merchantName],
  ['/merchants/set-up', 'Onboard merchant', 'Payers see it'],
  [`/merchants/${world.merchantId}`, world.merchantName, world.utr],
  [`/merchants/${world.merchantId}?tab=codes`, world.merchantName, hostile('qrName')],
  [`/merchants/${world.merchantId}?tab=people`, world.merchantName, 'first key'],
  [`/merchants/${world.merchantId}?tab=bank`, world.merchantName, 'Bank account and fees'],
  [`/merchants/${world.merchantId}?tab=audit`, world.merchantName, 'merchant.created'],
  ['/qr-codes', 'QR codes', hostile('qrName')],
  [`/qr-codes/${world.qrCodeId}`, hostile('qrName'), world.utr],
  ['/payments', 'Payments', world.utr],
  [`/payments/${world.paymentId}`, `Payment ${world.utr}`, 'Journal: UPI credit'],
  ['/refunds', 'Refunds', '₹12,345.25'],
  [`/refunds/${world.refundId}`, `Refund ${hostile('reference')}`, hostile('why')],
  ['/suspense', 'Suspense', world.strayUtr],
  ['/notices', 'Bank notices', 'Reference not readable'],
  [`/notices/${world.noticeId}`, 'Reference not readable', 'Read the body, ask the bank'],
  ['/payouts', 'Payouts', world.shopName],
  [`/payouts/${world.payoutId}`, 'Payout of ', 'one lakh forty-nine thousand rupees'],
  ['/partners', 'Partners', hostile('partner')],
  [`/partners/${world.partnerId}`, hostile('partner'), world.accountName],
  [`/partners/${world.partnerId}?tab=companies`, hostile('partner'), hostile('company')],
  [`/partners/${world.partnerId}?tab=cards`, hostile('partner'), 'What card records say'],
  [`/partners/${world.partnerId}?tab=keys`, hostile('partner'), 'first client'],
  [`/partners/${world.partnerId}?tab=people`, hostile('partner'), 'Portal members'],
  ['/companies', 'Companies', hostile('company')],
  [`/companies/${world.companyId}`, hostile('company'), world.accountName],
  ['/card-accounts', 'Card accounts', world.accountName],
  [`/card-accounts/${world.cardAccountId}`, `${world.accountName} of ${hostile('company')}`, 'Card funding'],
  ['/users', 'Holders', 'h•••@example.com'],
  [`/users/${world.userId}`, 'f•••', 'Allocated for referral'],
  ['/cards', 'Cards', '₹2,350.50'],
  [`/cards/${world.svcCardId}`, '999912XXXXXX', 'an operator: •••'],
  ['/card-exceptions', 'Card exceptions', 'Unknown card'],
  [`/card-exceptions/${world.exceptionId}`, 'Unknown card', '321.5'],
  ['/events', 'Events', 'Whose events?'],
  [`/events?tenantId=${world.merchantId}`, 'Events', 'qr_code.credited'],
  ['/coins', 'Coins', hostile('title')],
  [`/coins/${world.coinConfigId}`, hostile('title'), 'Revision 2'],
  ['/ledger', 'Ledger', 'Fees and GST of accepted payments'],
  [`/ledger/accounts/card:${world.svcCardId}`, 'Card 999912', 'Card spend'],
  [`/ledger/journals/jrn_${world.payoutId.slice(4)}`, 'Journal: Payout', 'Payouts in transit'],
  ['/ledger/trial-balance', 'Trial balance', 'They are equal.'],
  ['/ledger/reconciliation', 'Reconciliation', 'The books add up'],
  ['/audit', 'Audit', 'card.status_changed'],
  ['/operators', 'Operators', world.viewer.name],
  ['/sessions', 'Sessions', 'This one'],
  ['/settings', 'Settings', 'SVC_MASTER_KEY'],
  ['/account', 'Your account', 'Change your password'],
  ...placesOfBankFiles(world),
]

/** Text that calls `pwned` if a page ever takes it for markup or script. */
export const hostile = (field: string): string => `<img src=x onerror=pwned('${field}')> ${field}`
